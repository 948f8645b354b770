#include "bristle/contact/register_law.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bristle/run.hpp"
#include "tests/contact/own_laws.hpp"
#include "tests/validation/scenes.hpp"

// Laws that a program adds to those of laws.hpp.

namespace bristle {
namespace {

using namespace validation;

struct Impostor : HuntCrossley {
  static constexpr LawInfo info = own::renamed(HuntCrossley::info, "hertz");
};
struct Forgotten : HuntCrossley {
  static constexpr LawInfo info = own::renamed(HuntCrossley::info, "forgotten");
};

/// Registers a law with the first test that needs it.
template <class L>
const LawEntry& registered() {
  static const Result<const LawEntry*> entry = register_law<L>();
  EXPECT_TRUE(entry) << entry.error();
  return **entry;
}

template <class... Laws>
std::vector<std::string_view> names_of(LawList<Laws...>) {
  return {Laws::info.name...};
}

TEST(RegisterLaw, ListedLawsComeFirstAndKeepTheirIndex) {
  registered<own::Spring>();
  registered<own::Slider>();
  const auto expect_first = [](const std::vector<std::string_view>& listed,
                               LawFamily family, std::size_t functions) {
    const auto laws = laws_of(family);
    ASSERT_GT(laws.size(), listed.size());
    EXPECT_EQ(laws.size(), functions);
    for (std::size_t i = 0; i < laws.size(); ++i) {
      if (i < listed.size()) {
        EXPECT_EQ(laws[i]->info.name, listed[i]);
      }
      EXPECT_EQ(laws[i]->index, static_cast<int>(i));
      EXPECT_EQ(laws[i]->family, family);
    }
  };
  expect_first(names_of(NormalLaws{}), LawFamily::normal, normal_laws().size());
  expect_first(names_of(FrictionLaws{}), LawFamily::friction, friction_laws().size());
  EXPECT_EQ(choose<Hertz>().index, 0);
  EXPECT_EQ(choose<Frictionless>().index, 0);
}

TEST(RegisterLaw, ARegisteredLawIsChosenByTypeAndByName) {
  const LawEntry& spring = registered<own::Spring>();
  const auto found = find_law("own-spring");
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(*found, &spring);
  const own::Spring::Params<double> params{
      .stiffness = 3e5, .exponent = 1.5, .dissipation = 0.2};
  const LawChoice by_type = choose<own::Spring>(params);
  const auto by_name =
      choose("own-spring", std::vector<std::pair<std::string_view, double>>{
                               {"stiffness", 3e5}, {"dissipation", 0.2}});
  ASSERT_TRUE(by_name) << by_name.error();
  EXPECT_EQ(by_type, *by_name);
  EXPECT_EQ(&entry_of(by_type), &spring);
  EXPECT_NE(by_type, choose<HuntCrossley>(params));

  const LawEntry& slider = registered<own::Slider>();
  EXPECT_EQ(slider.family, LawFamily::friction);
  EXPECT_EQ(&entry_of(choose<own::Slider>()), &slider);
}

TEST(RegisterLaw, EntriesStayWhereTheyAreWhenOthersAreAdded) {
  const LawEntry* hertz = *find_law("hertz");
  const LawEntry* spring = &registered<own::Spring>();
  const NormalLawTable* functions = &normal_law(choose<own::Spring>());
  registered<own::OtherSpring>();
  EXPECT_EQ(*find_law("hertz"), hertz);
  EXPECT_EQ(*find_law("own-spring"), spring);
  EXPECT_EQ(&normal_law(choose<own::Spring>()), functions);
}

TEST(RegisterLaw, ANameThatIsTakenIsRefused) {
  registered<own::Spring>();
  const std::size_t before = catalogue().size();
  const std::size_t functions = normal_laws().size();
  const auto again = register_law<own::Spring>();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), "the law \"own-spring\" is registered already");

  const auto impostor = register_law<Impostor>();
  ASSERT_FALSE(impostor);
  EXPECT_NE(impostor.error().find("another law has the name \"hertz\""),
            std::string::npos)
      << impostor.error();
  EXPECT_EQ(catalogue().size(), before);
  EXPECT_EQ(normal_laws().size(), functions);
  EXPECT_EQ((*find_law("hertz"))->type, std::type_index(typeid(Hertz)));
}

TEST(RegisterLaw, ALawThatIsNotRegisteredCannotBeChosen) {
  try {
    choose<Forgotten>();
    FAIL() << "it was chosen";
  } catch (const std::logic_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("\"forgotten\" is not registered"), std::string::npos) << text;
    EXPECT_NE(text.find("register_law"), std::string::npos) << text;
  }
}

TEST(RegisterLaw, AModelRefusesAnIndexThatNoLawHas) {
  for (const LawFamily family : {LawFamily::normal, LawFamily::friction}) {
    for (const int index : {-1, static_cast<int>(max_laws)}) {
      ModelBuilder builder;
      builder.add_shape({.name = "ground", .shape = Plane{}});
      add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
      ContactSpec contact{.normal = choose<Hertz>()};
      (family == LawFamily::normal ? contact.normal : contact.friction) = {
          .family = family, .index = index, .parameters = {}};
      builder.add_contact(contact);
      const Result<Model> model = builder.build();
      ASSERT_FALSE(model);
      EXPECT_NE(model.error().find("no law with the index"), std::string::npos)
          << model.error();
    }
  }
}

/// Balls that fall on the ground and slide.
Model sliding_balls(const LawChoice& normal, const LawChoice& friction) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  for (int i = 0; i < 5; ++i) {
    add_free(builder, numbered("ball ", i), 1, ball_inertia(1, 0.1), Sphere{0.1});
  }
  builder.add_contact({.normal = normal, .friction = friction});
  return built(builder);
}

template <class Options>
void expect_same_motion(const Options& options) {
  const HuntCrossley::Params<double> spring{
      .stiffness = 1e6, .exponent = 1.5, .dissipation = 0.3};
  const SpringSlider::Params<double> slider{.mu = 0.5, .stiffness = 2e4, .damping = 20};
  const Model listed =
      sliding_balls(choose<HuntCrossley>(spring), choose<SpringSlider>(slider));
  const Model own =
      sliding_balls(choose<own::Spring>(spring), choose<own::Slider>(slider));
  const auto run = [&options](const Model& model) {
    State state = make_state(model);
    for (int i = 0; i < 5; ++i) {
      put(model, state, numbered("ball ", i), {0.3 * i, 0, 0.1 + 0.01 * i}, {1, 0.5, 0});
    }
    const RunSummary summary = simulate(model, state, options);
    EXPECT_EQ(summary.status, StepStatus::ok);
    EXPECT_GT(summary.audit.last().dissipated(), 0);
    return std::pair{state, summary.audit.residual()};
  };
  const auto [a, residual_a] = run(listed);
  const auto [b, residual_b] = run(own);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
  EXPECT_EQ(a.contacts.memory, b.contacts.memory);
  EXPECT_EQ(residual_a, residual_b);
}

TEST(RegisterLaw, ATwinOfAListedLawMovesBodiesBitByBitAlike) {
  registered<own::Spring>();
  registered<own::Slider>();
  for (const Method method : {Method::semi_implicit_euler, Method::bogacki_shampine,
                              Method::runge_kutta_4, Method::linearly_implicit_euler}) {
    SCOPED_TRACE(std::string(name_of(method)));
    expect_same_motion(
        SimulateOptions{.clock = {.method = method, .step = 1e-4}, .duration = 0.3});
  }
  expect_same_motion(SimulateAdaptiveOptions{.duration = 0.1});
}

TEST(RegisterLaw, ItsImpactAndSlideAreThoseOfItsTwin) {
  const LawEntry& spring = registered<own::Spring>();
  const LawEntry& twin = **find_law("hunt-crossley");
  const auto a = spring.impact(spring.defaults(), 0.2, 1.5, nullptr);
  const auto b = twin.impact(twin.defaults(), 0.2, 1.5, nullptr);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->restitution, b->restitution);
  EXPECT_EQ(spring.damping_parameter, twin.damping_parameter);
  const LawEntry& slider = registered<own::Slider>();
  const LawEntry& other = **find_law("spring-slider");
  EXPECT_EQ(slider.steady_resistance(slider.defaults(), 0.1, 10, 1e-4),
            other.steady_resistance(other.defaults(), 0.1, 10, 1e-4));
}

// The last test here: it leaves no room.
TEST(RegisterLaw, ALawTooManyIsRefused) {
  static std::vector<std::string> names;
  names.reserve(max_laws);
  const LawEntry coulomb = **find_law("coulomb");
  const FrictionLawTable functions = friction_law(choose<Coulomb>());
  const auto add = [&] {
    LawEntry entry = coulomb;
    entry.info.name =
        names.emplace_back(numbered("filler-", static_cast<int>(names.size())));
    return detail::add_law(entry, functions, spin_table_entries<Coulomb>());
  };
  while (friction_laws().size() < max_laws) ASSERT_TRUE(add());
  const std::size_t before = catalogue().size();
  const auto refused = add();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("no room for the law \"filler-"), std::string::npos)
      << refused.error();
  EXPECT_EQ(catalogue().size(), before);
  EXPECT_EQ(laws_of(LawFamily::friction).size(), max_laws);
}

}  // namespace
}  // namespace bristle
