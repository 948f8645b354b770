#include "bristle/model/model.hpp"

#include <gtest/gtest.h>

#include "bristle/model/state.hpp"
#include "tests/validation/scenes.hpp"

// What a model is made of, and what is said when something does not fit.

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::built;

const LawChoice hertz = choose<Hertz>();
const LawChoice slippery = choose<Frictionless>();

ModelBuilder two_balls() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}, .surface = "floor"});
  add_free(builder, "one", 1, ball_inertia(1, 0.1), Sphere{0.1}, "rubber");
  add_free(builder, "two", 1, ball_inertia(1, 0.1), Sphere{0.1}, "steel");
  return builder;
}

std::string message(const ModelBuilder& builder) {
  const Result<Model> model = builder.build();
  return model ? "no error" : model.error();
}

void expect_says(const ModelBuilder& builder, std::initializer_list<const char*> words) {
  const std::string text = message(builder);
  for (const char* word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }
}

TEST(ModelBuilder, TheLastRuleThatFitsCounts) {
  ModelBuilder builder = two_balls();
  const LawChoice bouncy = choose<HuntCrossley>();
  builder.add_contact({.normal = hertz, .friction = slippery});
  builder.add_contact(
      {.a = "steel", .b = "floor", .normal = bouncy, .friction = slippery});
  builder.add_contact({.a = "one", .b = "two", .touches = false});
  const Model model = built(builder);
  ASSERT_EQ(model.pairs.size(), 2u);  // ground–one, ground–two
  for (const ShapePair& pair : model.pairs) {
    const bool steel = model.shapes[pair.b].surface == "steel";
    EXPECT_EQ(model.blocks[static_cast<std::size_t>(pair.block)].normal,
              steel ? bouncy : hertz);
    EXPECT_EQ(pair.share_a, 1);  // the ground, which stands still, is the soft one
  }
}

TEST(ModelBuilder, SharesOfTheOverlap) {
  ModelBuilder builder = two_balls();
  builder.add_contact({.normal = hertz, .friction = slippery});
  EXPECT_EQ(built(builder).pairs[2].share_a, 0.5);  // one–two
  // Given for the pair as the rule names it, whatever the order of the shapes.
  builder.add_contact(
      {.a = "two", .b = "one", .normal = hertz, .friction = slippery, .share_a = 0.2});
  EXPECT_EQ(built(builder).pairs[2].share_a, 0.8);
}

TEST(ModelBuilder, BodiesOnAJointDoNotTouchUnlessNamed) {
  ModelBuilder builder;
  for (const char* name : {"upper", "lower", "hand"}) {
    builder.add_body({.name = name, .mass = 1, .inertia = ball_inertia(1, 0.1)});
    builder.add_shape(
        {.name = std::string(name) + " skin", .body = name, .shape = Sphere{0.1}});
  }
  builder.add_joint({.name = "shoulder", .child = "upper", .type = JointType::revolute});
  builder.add_joint({.name = "elbow",
                     .parent = "upper",
                     .child = "lower",
                     .type = JointType::revolute,
                     .on_parent = {.p = {0.3, 0, 0}}});
  builder.add_joint({.name = "wrist",
                     .parent = "lower",
                     .child = "hand",
                     .type = JointType::revolute,
                     .on_parent = {.p = {0.3, 0, 0}}});
  builder.add_shape({.name = "wall", .shape = Plane{}});
  builder.add_contact({.normal = hertz, .friction = slippery});
  // wall with all three, upper with hand
  EXPECT_EQ(built(builder).pairs.size(), 4u);
  builder.add_contact(
      {.a = "upper", .b = "lower", .normal = hertz, .friction = slippery});
  EXPECT_EQ(built(builder).pairs.size(), 5u);
}

TEST(ModelBuilder, ManyShapesGoThroughTheBroadPhase) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < 40; ++i) {
    add_free(builder, validation::numbered("b", i), 1, ball_inertia(1, 0.1), Sphere{0.1});
  }
  builder.add_contact({.normal = hertz, .friction = slippery});
  const Model model = built(builder);
  EXPECT_TRUE(model.broad_phase);
  EXPECT_EQ(model.planes.size(), 1u);
}

TEST(ModelBuilder, SaysWhatIsWrong) {
  const ModelBuilder base = two_balls();
  ModelBuilder b = base;
  b.add_shape({.name = "lost", .body = "on", .shape = Sphere{1}});
  expect_says(b, {"shape \"lost\"", "no body \"on\"", "did you mean \"one\""});

  b = base;
  b.add_shape({.name = "one", .body = "one", .shape = Sphere{1}});
  expect_says(b, {"shape \"one\" was added twice"});

  b = base;
  b.add_shape({.name = "bad", .body = "one", .shape = Sphere{-1}});
  expect_says(b, {"shape \"bad\"", "radius"});

  b = base;
  b.add_shape({.name = "skew",
               .body = "one",
               .shape = Sphere{1},
               .pose = {.R = Mat3<double>::zero()}});
  expect_says(b, {"shape \"skew\"", "rotation"});

  b = base;
  b.add_contact({.a = "ruber", .normal = hertz, .friction = slippery});
  expect_says(b, {"\"ruber\"", "did you mean \"rubber\""});

  b = base;
  b.add_contact({.normal = slippery, .friction = slippery});
  expect_says(b, {"frictionless is a friction law, a normal law is needed"});

  b = base;
  b.add_contact({.normal = choose<Hertz>({.stiffness = -3, .exponent = 1.5}),
                 .friction = slippery});
  expect_says(b, {"hertz", "stiffness = -3 must lie in"});

  b = base;
  b.add_contact({.normal = hertz, .friction = slippery, .share_a = 1.2});
  expect_says(b, {"share_a = 1.2 must lie in [0, 1]"});

  b = base;
  b.add_shape({.name = "tilted", .body = "one", .shape = Plane{}});
  b.add_contact({.normal = hertz, .friction = slippery});
  expect_says(b, {"\"ground\" and \"tilted\"", "no contact between plane and plane",
                  "plane touches"});

  b = base;
  b.add_motor({.name = "m", .joint = "one move"});
  expect_says(
      b, {"motor \"m\"", "no moving joint \"one move\"", "did you mean \"one moves\""});

  b = base;
  b.add_motor({.name = "m", .joint = "one moves", .axis = 6});
  expect_says(b, {"axis = 6 must lie in [0, 5]"});

  b = base;
  b.add_motor({.name = "m", .joint = "one moves", .kind = MotorKind::position});
  expect_says(b, {"no angles", "torque motor"});

  b = base;
  b.add_load({.name = "push", .body = "three"});
  expect_says(b, {"load \"push\"", "no body \"three\""});

  b = base;
  b.set_limits({.joint = "none", .normal = hertz});
  expect_says(b, {"limits", "no moving joint \"none\""});

  b = base;
  b.set_friction({.joint = "one moves", .friction = choose<Coulomb>(), .load = -1});
  expect_says(b, {"load = -1 must be a number > 0"});

  b = base;
  b.options({.contact_capacity = -5});
  expect_says(b, {"contact_capacity = -5"});
}

TEST(ModelBuilder, SaysWhatIsWrongWithALoop) {
  const LoopSpec fine{.name = "link", .body_a = "one", .body_b = "two"};
  const auto says = [&](const LoopSpec& loop, std::initializer_list<const char*> words) {
    expect_says(two_balls().add_loop(loop), words);
  };
  LoopSpec loop = fine;
  says(loop, {"no error"});
  loop.name = "";
  says(loop, {"a loop between \"one\" and \"two\" has no name"});
  expect_says(two_balls().add_loop(fine).add_loop(fine),
              {"loop \"link\" was added twice"});

  loop = fine;
  loop.body_b = "tow";
  says(loop, {"loop \"link\"", "no body \"tow\"", "did you mean \"two\""});
  loop.body_b = "one";
  says(loop, {"both ends are on \"one\""});
  loop.body_a = loop.body_b = "world";
  says(loop, {"both ends are on \"world\""});
  ModelBuilder welded = two_balls();
  welded.add_body({.name = "ear"});
  welded.add_joint({.name = "glue", .parent = "one", .child = "ear"});
  loop = fine;
  loop.body_b = "ear";
  expect_says(welded.add_loop(loop), {"\"one\" and \"ear\" are parts of one rigid body"});

  loop = fine;
  loop.pose_b.R = Mat3<double>::zero();
  says(loop, {"pose_b is not a rotation"});
  loop = fine;
  loop.pose_a.p.x = std::nan("");
  says(loop, {"pose_a is not a rotation and a point"});

  loop = fine;
  loop.stiffness = -1;
  says(loop, {"stiffness = -1 must lie in [0, inf)"});
  loop.stiffness = std::nan("");
  says(loop, {"stiffness = nan"});
  loop = fine;
  loop.damping = 3;
  says(loop, {"without a stiffness it is rigid", "give a stiffness as well"});
  loop.stiffness = 1e4;
  says(loop, {"no error"});
  loop.rotational_stiffness = 5;
  says(loop, {"a point turns freely"});
  loop.kind = LoopKind::hinge;
  says(loop, {"no error"});
  loop.rotational_damping = -2;
  says(loop, {"rotational_damping = -2"});
  loop.rotational_damping = 0;
  loop.rotational_stiffness.reset();
  says(loop, {"no rotational_stiffness", "a hinge takes both"});

  loop = fine;
  loop.length = 1;
  says(loop, {"length is for a distance only"});
  loop.kind = LoopKind::distance;
  says(loop, {"no error"});
  loop.length = 0;
  says(loop, {"length = 0 must be a number > 0"});
  loop.length.reset();
  says(loop, {"coincide with every joint at neutral", "take a point"});
}

TEST(ModelBuilder, LoopsAreLaidOut) {
  ModelBuilder b = two_balls();
  b.add_loop({.name = "rod",
              .kind = LoopKind::distance,
              .body_a = "one",
              .pose_a = {.p = {0, 3, 0}},
              .body_b = "two",
              .pose_b = {.p = {4, 0, 0}}});
  b.add_loop({.name = "spring", .body_a = "one", .body_b = "two", .stiffness = 10});
  b.add_loop({.name = "glue", .kind = LoopKind::weld, .body_b = "two"});
  b.add_contact({.normal = hertz, .friction = slippery});
  const Model model = built(b);
  EXPECT_EQ(model.find_loop("glue"), 2);
  EXPECT_EQ(model.find_loop("clue"), -1);
  EXPECT_EQ(model.loops[0].length, 5);  // as built
  EXPECT_EQ(model.loop_rows, 1 + 6);
  EXPECT_EQ(model.loops[2].row, 1);
  EXPECT_TRUE(model.loops[0].rigid);
  EXPECT_FALSE(model.loops[1].rigid);
  // What a loop joins does not touch, unless named; the world does.
  EXPECT_EQ(model.pairs.size(), 2u);
}

TEST(LawChoice, ByNameWithParameters) {
  const std::pair<std::string_view, double> values[] = {{"stiffness", 2e6}};
  const Result<LawChoice> found = choose("hertz", values);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, choose<Hertz>({.stiffness = 2e6, .exponent = 1.5}));
  const std::pair<std::string_view, double> typo[] = {{"stifness", 2e6}};
  const Result<LawChoice> wrong = choose("hertz", typo);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().find("did you mean 'stiffness'"), std::string::npos);
  const std::pair<std::string_view, double> bad[] = {{"stiffness", -1}};
  EXPECT_FALSE(choose("hertz", bad));
  EXPECT_FALSE(choose("herz", values));
}

TEST(Model, ElementsAreFoundByName) {
  ModelBuilder builder = two_balls();
  builder.add_contact({.normal = hertz});
  builder.add_motor({.name = "push", .joint = "one moves", .axis = 3})
      .add_motor({.name = "pull", .joint = "two moves", .axis = 3});
  const Model model = built(builder);
  EXPECT_EQ(model.find_shape("ground"), 0);
  EXPECT_EQ(model.find_shape("two"), 2);
  EXPECT_EQ(model.find_shape("three"), -1);
  EXPECT_EQ(model.find_motor("pull"), 1);
  EXPECT_EQ(model.find_motor("two"), -1);
}

// Errors say what they are about for programs, too.
TEST(ModelBuilder, ErrorsHaveASubject) {
  const auto hinge = [](ModelBuilder& b) {
    b.add_body({.name = "arm", .mass = 1, .inertia = ball_inertia(1, 0.1)})
        .add_joint({.name = "elbow", .child = "arm", .type = JointType::revolute});
  };
  struct Case {
    void (*spoil)(ModelBuilder&);
    Element element;
    const char* name;
    std::size_t index;
    const char* field;
  };
  const Case cases[] = {
      {[](ModelBuilder& b) { b.add_body({.name = "one"}); }, Element::body, "one", 3,
       "name"},
      {[](ModelBuilder& b) { b.add_body({.name = "loose", .mass = 1}); }, Element::body,
       "loose", 3, ""},
      {[](ModelBuilder& b) {
         b.add_body({.name = "light", .mass = -1})
             .add_joint({.name = "j", .child = "light", .type = JointType::free});
       },
       Element::body, "light", 3, "mass"},
      {[](ModelBuilder& b) { b.add_joint({.name = "j", .child = "nobody"}); },
       Element::joint, "j", 3, "child"},
      {[](ModelBuilder& b) {
         b.add_body({.name = "dot", .mass = 1})
             .add_joint({.name = "j", .child = "dot", .type = JointType::revolute});
       },
       Element::joint, "j", 3, ""},
      {[](ModelBuilder& b) { b.add_shape({.name = "s", .body = "nobody"}); },
       Element::shape, "s", 3, "body"},
      {[](ModelBuilder& b) { b.add_shape({.name = "s", .shape = Sphere{-1}}); },
       Element::shape, "s", 3, "shape"},
      {[](ModelBuilder& b) {
         b.add_contact({.normal = hertz}).add_contact({.a = "one", .b = "steal"});
       },
       Element::contact, "", 1, "b"},
      {[](ModelBuilder& b) { b.add_contact({.a = "one"}); }, Element::contact, "", 0,
       "normal"},
      {[](ModelBuilder& b) { b.add_contact({.normal = hertz, .share_a = 2}); },
       Element::contact, "", 0, "share_a"},
      {[](ModelBuilder& b) { b.add_motor({.name = "m", .joint = "elbow", .axis = 1}); },
       Element::motor, "m", 0, "axis"},
      {[](ModelBuilder& b) { b.add_motor({.name = "m", .joint = "knee"}); },
       Element::motor, "m", 0, "joint"},
      {[](ModelBuilder& b) {
         b.add_load({.name = "f", .body = "one"}).add_load({.name = "g", .body = "on"});
       },
       Element::load, "g", 1, "body"},
      {[](ModelBuilder& b) {
         b.add_loop({.name = "tie", .body_a = "one", .body_b = "tow"});
       },
       Element::loop, "tie", 0, "body_b"},
      {[](ModelBuilder& b) {
         b.add_loop({.name = "tie", .body_a = "one", .body_b = "two", .damping = 1});
       },
       Element::loop, "tie", 0, "damping"},
      {[](ModelBuilder& b) { b.set_limits({.joint = "elbow"}); }, Element::limit, "elbow",
       0, "normal"},
      {[](ModelBuilder& b) { b.set_friction({.joint = "elbow", .friction = slippery}); },
       Element::joint_friction, "elbow", 0, "load"},
      {[](ModelBuilder& b) { b.options({.contact_capacity = -1}); }, Element::none, "", 0,
       ""},
  };
  for (const Case& c : cases) {
    ModelBuilder builder = two_balls();
    hinge(builder);
    c.spoil(builder);
    const Result<Model> model = builder.build();
    ASSERT_FALSE(model);
    SCOPED_TRACE(model.error());
    const ErrorSubject& subject = model.error_subject();
    EXPECT_EQ(subject.element, c.element);
    EXPECT_EQ(subject.name, c.name);
    EXPECT_EQ(subject.index, c.index);
    EXPECT_EQ(subject.field, c.field);
  }
}

}  // namespace
}  // namespace bristle
