#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "bristle/laws/choice.hpp"
#include "bristle/run.hpp"
#include "bristle/step/loops.hpp"
#include "scene/mesh_file.hpp"
#include "scene/mjcf.hpp"
#include "scene/urdf.hpp"

namespace bristle::scene {
namespace {

std::string file(const std::string& name) {
  return std::string(BRISTLE_ROBOTS) + "/" + name;
}

struct Answer {
  bool fine = false;
  Parts parts{};
  Problems problems{};

  const BodySpec& body(const std::string& name) const {
    return *std::find_if(parts.bodies.begin(), parts.bodies.end(),
                         [&](const BodySpec& b) { return b.name == name; });
  }
  const JointSpec& joint(const std::string& name) const {
    return *std::find_if(parts.joints.begin(), parts.joints.end(),
                         [&](const JointSpec& j) { return j.name == name; });
  }
  const ShapeSpec& shape(const std::string& name) const {
    return *std::find_if(parts.shapes.begin(), parts.shapes.end(),
                         [&](const ShapeSpec& s) { return s.name == name; });
  }
  const MotorSpec& motor(const std::string& name) const {
    return *std::find_if(parts.motors.begin(), parts.motors.end(),
                         [&](const MotorSpec& m) { return m.name == name; });
  }
};

/// A text read as if it stood among the test's robots.
Answer urdf(std::string_view text, const RobotOptions& options = {}) {
  Answer a;
  a.fine = read_urdf_text(text, file("robot.urdf"), options, a.parts, a.problems);
  return a;
}
Answer mjcf(std::string_view text, const RobotOptions& options = {}) {
  Answer a;
  a.fine = read_mjcf_text(text, file("robot.xml"), options, a.parts, a.problems);
  return a;
}

Result<Model> model_of(const Parts& parts, bool all_touch = false) {
  ModelBuilder builder;
  for (const BodySpec& body : parts.bodies) builder.add_body(body);
  for (const JointSpec& joint : parts.joints) builder.add_joint(joint);
  for (const LoopSpec& loop : parts.loops) builder.add_loop(loop);
  for (const ShapeSpec& shape : parts.shapes) builder.add_shape(shape);
  ContactSpec any;
  any.normal = choose<HuntCrossley>();
  any.friction = choose<Frictionless>();
  if (all_touch) builder.add_contact(any);
  for (const ContactSpec& contact : parts.contacts) builder.add_contact(contact);
  for (const CouplingSpec& coupling : parts.couplings) builder.add_coupling(coupling);
  for (const MotorSpec& motor : parts.motors) builder.add_motor(motor);
  return builder.build();
}

/// Some line of the problems ends in this, after its file.
void expect_problem(const Answer& a, std::string_view words) {
  EXPECT_FALSE(a.fine) << words;
  EXPECT_TRUE(a.parts.bodies.empty());
  const auto& all = a.problems.errors();
  EXPECT_TRUE(std::any_of(
      all.begin(), all.end(),
      [&](const Problem& p) { return p.text().find(words) != std::string::npos; }))
      << "expected: " << words << "\ngot: " << a.problems.text();
}

std::string box_link(const std::string& name, const std::string& mass = "1") {
  return "<link name='" + name + "'><inertial><mass value='" + mass +
         "'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
         "</link>";
}
std::string joint(const std::string& name, const std::string& parent,
                  const std::string& child, const std::string& rest = {}) {
  return "<joint name='" + name + "' type='continuous'><parent link='" + parent +
         "'/><child link='" + child + "'/>" + rest + "</joint>";
}
std::string robot(const std::string& inside) {
  return "<robot name='r'>\n" + inside + "\n</robot>";
}
std::string mujoco(const std::string& inside) {
  return "<mujoco>\n" + inside + "\n</mujoco>";
}
std::string world(const std::string& inside) {
  return mujoco("<worldbody>" + inside + "</worldbody>");
}

// URDF.

TEST(Urdf, ArmHasLimitsShapesAndNames) {
  Answer a;
  ASSERT_TRUE(read_urdf(file("arm7.urdf"), {}, a.parts, a.problems)) << a.problems.text();
  EXPECT_EQ(a.parts.bodies.size(), 9u);
  EXPECT_EQ(a.parts.joints.size(), 9u);  // with the base's
  EXPECT_EQ(a.joint("base.base").type, JointType::fixed);
  const JointSpec& elbow = a.joint("elbow");
  EXPECT_EQ(elbow.type, JointType::revolute);
  EXPECT_EQ(elbow.lower, -2.3);
  EXPECT_EQ(elbow.upper, 1.8);
  EXPECT_EQ(elbow.effort_limit, 39);
  EXPECT_EQ(elbow.damping, 0.35);
  EXPECT_EQ(elbow.friction, 0.13);
  const JointSpec& roll = a.joint("upper_roll");  // continuous
  EXPECT_EQ(roll.effort_limit, 46);
  EXPECT_TRUE(std::isinf(roll.lower) && std::isinf(roll.upper));
  EXPECT_EQ(a.shape("foot").body, "base");
  EXPECT_EQ(a.shape("foot").surface, "base");
  EXPECT_EQ(a.shape("knob").body, "elbow_link");
  EXPECT_EQ(std::get<Cylinder>(a.shape("elbow_link.collision").shape).half_length, 0.12);
  // What was left out, by what follows from it, the most serious first.
  ASSERT_EQ(a.problems.warnings().size(), 2u);
  EXPECT_EQ(a.problems.warnings()[0].message,
            "not read, so that the motion differs: limit velocity (7)");
  EXPECT_EQ(a.problems.warnings()[1].message,
            "not read, so that contacts differ: gazebo (1)");
  EXPECT_TRUE(model_of(a.parts));
}

TEST(Urdf, BaseIsFixedOrFree) {
  const std::string two = robot(box_link("a") + box_link("b") + joint("j", "a", "b"));
  EXPECT_EQ(urdf(two).joint("a.base").type, JointType::fixed);
  RobotOptions options;
  options.base = "free";
  EXPECT_EQ(urdf(two, options).joint("a.base").type, JointType::free);
  options.base = "floating";
  expect_problem(urdf(two, options), "base = floating must be fixed or free");
  options.base = "free";
  // Without mass there is nothing to move freely; with some welded to it, there is.
  const std::string bare = "<link name='a'/>";
  EXPECT_EQ(urdf(robot(bare + box_link("b") + joint("j", "a", "b")), options)
                .joint("a.base")
                .type,
            JointType::fixed);
  const std::string weld =
      "<joint name='w' type='fixed'><parent link='a'/>"
      "<child link='b'/></joint>";
  const Answer welded = urdf(robot(bare + box_link("b") + weld), options);
  EXPECT_EQ(welded.joint("a.base").type, JointType::free);
  EXPECT_TRUE(model_of(welded.parts));
  // A root called world is the world.
  const Answer in_world = urdf(
      robot("<link name='world'/>" + box_link("b") + joint("j", "world", "b")), options);
  EXPECT_EQ(in_world.parts.bodies.size(), 1u);
  EXPECT_EQ(in_world.parts.joints.size(), 1u);
  EXPECT_EQ(in_world.joint("j").parent, "world");
}

TEST(Urdf, PoseMovesTheBase) {
  RobotOptions options;
  options.pose.p = {1, 2, 3};
  const Answer fixed = urdf(robot(box_link("a")), options);
  EXPECT_EQ(fixed.joint("a.base").on_parent.p.z, 3);
  const Answer in_world =
      urdf(robot("<link name='world'><collision><geometry><sphere radius='1'/></geometry>"
                 "</collision></link>" +
                 box_link("b") + joint("j", "world", "b", "<origin xyz='1 1 1'/>")),
           options);
  EXPECT_EQ(in_world.joint("j").on_parent.p.y, 3);
  EXPECT_EQ(in_world.shape("world.collision").pose.p.y, 2);
}

TEST(Urdf, NamesAttributesThatAreNotRead) {
  const Answer a =
      urdf(robot("<link name='a' type='heavy'><visual colour='red'/></link>" +
                 box_link("b") + joint("j", "a", "b", "<dynamics spring='1'/>")));
  ASSERT_TRUE(a.fine) << a.problems.text();
  ASSERT_EQ(a.problems.warnings().size(), 2u);
  EXPECT_EQ(a.problems.warnings()[0].message,
            "not read, so that the motion differs: dynamics spring (1)");
  EXPECT_EQ(a.problems.warnings()[1].message,
            "not read, so that the appearance differs: visual (1)");
}

TEST(Urdf, WhatIsSeen) {
  const Answer a = urdf(
      robot("<material name='blue'><color rgba='0 0 1 1'/></material>"
            "<link name='a'><visual><origin xyz='1 2 3'/><geometry>"
            "<mesh filename='meshes/none.dae' scale='0.5 0.5 0.5'/></geometry>"
            "<material name='blue'/></visual>"
            "<visual><geometry><box size='2 4 6'/></geometry></visual>"
            "<visual><geometry><sphere radius='-1'/></geometry></visual>"
            "<collision><geometry><sphere radius='1'/></geometry></collision></link>" +
            box_link("b") + joint("j", "a", "b", "")));
  ASSERT_TRUE(a.fine) << a.problems.text();
  ASSERT_EQ(a.parts.visuals.size(), 2u);
  EXPECT_EQ(a.parts.visuals[0].body, "a");
  EXPECT_EQ(a.parts.visuals[0].mesh->path, file("meshes/none.dae"));
  EXPECT_EQ(a.parts.visuals[0].mesh->scale.x, 0.5);
  EXPECT_EQ(a.parts.visuals[0].pose.p.y, 2);
  EXPECT_EQ(a.parts.visuals[0].colour, (Colour{0, 0, 1, 1}));
  EXPECT_EQ(std::get<Box>(*a.parts.visuals[1].shape).half.z, 3);
  EXPECT_FALSE(a.parts.visuals[1].colour);
  ASSERT_EQ(a.parts.looks.size(), 1u);  // link b has its own shape only
  EXPECT_EQ(a.parts.looks[0].shape, "a.collision");
  EXPECT_FALSE(a.parts.looks[0].drawn);
  ASSERT_EQ(a.problems.warnings().size(), 1u);
  EXPECT_EQ(a.problems.warnings()[0].message,
            "not read, so that the appearance differs: visual (1)");
}

TEST(Urdf, SurfacesByLinkOrOption) {
  const std::string text = robot(
      "<link name='a'><collision><geometry><sphere radius='1'/></geometry></collision>"
      "<collision><geometry><sphere radius='2'/></geometry></collision></link>");
  Answer a = urdf(text);
  EXPECT_EQ(a.shape("a.collision").surface, "a");
  EXPECT_EQ(std::get<Sphere>(a.shape("a.collision2").shape).radius, 2);
  RobotOptions options;
  options.surface = "rubber";
  EXPECT_EQ(urdf(text, options).shape("a.collision").surface, "rubber");
}

std::string mesh_link(const std::string& name, const std::string& rest = {}) {
  return robot("<link name='a'><collision><geometry><mesh filename='" + name + "' " +
               rest + "/></geometry></collision></link>");
}

TEST(Urdf, MeshesOfEveryFormatAndAddress) {
  const std::string here = BRISTLE_ROBOTS;
  for (const std::string& address :
       {std::string("meshes/tetra.stl"), std::string("meshes/tetra.dae"),
        std::string("package://robots/meshes/tetra.stl"),
        std::string("package://scene/robots/meshes/tetra.dae"),
        "file://" + here + "/meshes/tetra.stl", here + "/meshes/tetra.stl"}) {
    const Answer a = urdf(mesh_link(address, "scale='2 1 1'"));
    ASSERT_TRUE(a.fine) << a.problems.text();
    const ConvexHull& hull = *std::get<Convex>(a.shape("a.collision").shape).hull;
    EXPECT_EQ(hull.vertices.size(), 4u);
    double most = 0;
    for (const Vec3<double>& v : hull.vertices) most = std::max(most, v.x);
    // The COLLADA file is in centimetres, and moved by one metre.
    EXPECT_NEAR(most, address.ends_with("dae") ? 4 : 2, 1e-6) << address;
  }
  RobotOptions options;
  options.meshes = "mesh";
  const Answer a = urdf(mesh_link("meshes/tetra.stl"), options);
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(std::get<Mesh>(a.shape("a.collision").shape).mesh->surface.triangles.size(),
            4u);
  // A package that only the options know.
  options.packages = {here};
  Answer elsewhere;
  EXPECT_TRUE(read_urdf_text(mesh_link("package://meshes/tetra.stl"),
                             "/nowhere/robot.urdf", options, elsewhere.parts,
                             elsewhere.problems))
      << elsewhere.problems.text();
  options.packages = {here + "/meshes/"};
  EXPECT_TRUE(read_urdf_text(mesh_link("package://meshes/tetra.stl"),
                             "/nowhere/robot.urdf", options, elsewhere.parts = {},
                             elsewhere.problems))
      << elsewhere.problems.text();
}

TEST(Urdf, MeshesThatAreNotThere) {
  expect_problem(urdf(mesh_link("meshes/none.stl")),
                 "robot.urdf:2: link \"a\": collision: mesh: there is no mesh file ");
  expect_problem(urdf(mesh_link("package://nobody/x.stl")), "must lie in a package");
  expect_problem(urdf(mesh_link("package://nobody")), "must lie in a package");
  expect_problem(urdf(mesh_link("")), "must name a file");
  expect_problem(urdf(mesh_link("arm7.urdf")), "from .stl, .obj, .ply and .dae files");
  expect_problem(urdf(mesh_link("meshes/empty.stl")), "the mesh file is empty");
  expect_problem(urdf(mesh_link("meshes/words.obj")), "there are no triangles in");
  expect_problem(urdf(mesh_link("meshes/tetra.stl", "scale='1 0 1'")), "must not be 0");
}

TEST(Urdf, AllProblemsAtOnceWithTheirLines) {
  const Answer a = urdf(R"(<robot name="r">
<link name="a"/>
<link name="b"><inertial><mass value="-1"/>
  <inertia ixx="1" iyy="-2" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"/>
<link/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>
<joint name="j" type="hinge"><parent link="nobody"/><child link="b"/><axis xyz="0 0 0"/></joint>
<joint name="m" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 0"/>
  <limit lower="1" upper="0" effort="nan" velocity="1"/></joint>
</robot>)");
  for (const char* words : {
           "robot.urdf:3: link \"b\": mass = -1 must not be below 0",
           "robot.urdf:4: link \"b\": inertia must have no negative principal moment "
           "(principal moments -2, 0.5, 1 kg m^2)",
           "robot.urdf:5: link \"b\": another link must not have this name (line 3)",
           "robot.urdf:6: link: it must have a name",
           "robot.urdf:7: joint \"j\": a revolute joint must have limit",
           "robot.urdf:8: joint \"j\": type = hinge must be fixed, revolute",
           "robot.urdf:8: joint \"j\": another joint must not have this name",
           "robot.urdf:8: joint \"j\": parent = \"nobody\" must be a link of the file",
           "robot.urdf:9: joint \"m\": axis = 0 0 0 must have a length",
           "robot.urdf:9: joint \"m\": child = \"b\" must hang from one joint only",
           "robot.urdf:10: joint \"m\": limit: lower = 1 must not be above upper = 0",
           "robot.urdf:10: joint \"m\": limit: effort = nan must be a finite number",
       }) {
    expect_problem(a, words);
  }
}

TEST(Urdf, RefusesWhatCannotBe) {
  expect_problem(urdf(""), "robot.urdf: this is not well-formed XML: the file is empty");
  expect_problem(urdf("<robot>\n<link"), "robot.urdf:2: this is not well-formed XML");
  expect_problem(urdf("<robot><a></robot>"), "is closed by another one's end");
  expect_problem(urdf(std::string_view("<robot>\n\0</robot>", 18)),
                 "robot.urdf:2: a byte is 0");
  expect_problem(urdf("<mujoco/>"), "a URDF file must begin with robot");
  expect_problem(urdf("<robot/>"), "it must have a link");
  expect_problem(urdf(robot(box_link("a") + box_link("b"))),
                 "one link only must hang from no joint, but these do: \"a\", \"b\"");
  expect_problem(urdf(robot(box_link("r") + box_link("a") + box_link("b") +
                            joint("j", "a", "b") + joint("k", "b", "a"))),
                 "link \"a\": its parents must not form a cycle");
  expect_problem(urdf(robot(box_link("a") + joint("j", "a", "a"))), "form a cycle");
  expect_problem(urdf(robot(box_link("a") + "<link name='b'/>" + joint("j", "a", "b"))),
                 "link \"b\": mass (none given) must be above 0 on a continuous joint");
  expect_problem(urdf(robot(box_link("a", "1e400"))), "must be a finite number");
  expect_problem(urdf(robot(box_link("a", "1 kg"))), "mass = 1 kg must be a finite");
  expect_problem(urdf(robot("<link name='a'><inertial><origin xyz='1, 2, 3'/>"
                            "<mass value='1'/></inertial></link>")),
                 "xyz = 1, 2, 3 must be numbers with spaces between them, not commas");
  expect_problem(urdf("<robot xmlns:xacro='x'>\n<xacro:include filename='a'/><link "
                      "name='a'/></robot>"),
                 "robot.urdf:2: xacro:include: this file is not finished; run xacro");
  expect_problem(urdf("<robot a='1' a='2'><link name='x'/></robot>"),
                 "or is given twice");
  expect_problem(urdf(robot("<link name='a'><inertial><mass value='1'/><inertia ixx='1' "
                            "iyy='1' izz='1' ixy='2' ixz='0' iyz='0'/></inertial>"
                            "</link>")),
                 "must have no negative principal moment");
  expect_problem(urdf(robot("<link name='a'><collision/></link>")),
                 "collision: it must have geometry");
  expect_problem(urdf(robot("<link name='a'><collision><geometry><box size='1 -1 1'/>"
                            "</geometry></collision></link>")),
                 "box: size = 1 -1 1 must be above 0");
  expect_problem(urdf(robot("<link name='a'><collision><geometry><cone/></geometry>"
                            "</collision></link>")),
                 "geometry must be box, cylinder, sphere");
}

TEST(Urdf, SphericalJointsTurnAboutTheirOrigin) {
  const Answer a = urdf(robot(box_link("a") + box_link("b") +
                              "<joint name='j' type='spherical'><parent link='a'/><child "
                              "link='b'/><origin xyz='0 0 0.3'/><axis xyz='1 0 0'/>"
                              "<dynamics damping='0.2'/></joint>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.joint("j").type, JointType::spherical);
  EXPECT_EQ(a.joint("j").on_parent.p.z, 0.3);
  EXPECT_EQ(a.joint("j").damping, 0.2);
  const Result<Model> model = model_of(a.parts);
  ASSERT_TRUE(model) << model.error();
  EXPECT_EQ(model->tree.velocity_count(), 3);
}

TEST(Urdf, LeftOversOfXacroAreNamed) {
  expect_problem(urdf(robot(box_link("a") + box_link("b") +
                            joint("j", "a", "b", "<origin xyz='${x} 0 0'/>"))),
                 "xyz = ${x} 0 0 must be of numbers: xacro has left this over; run xacro "
                 "on the file first");
}

TEST(Urdf, ZeroBytesAtTheEndAreIgnored) {
  EXPECT_TRUE(urdf(robot(box_link("a")) + std::string(3, '\0')).fine);
}

TEST(Urdf, PointMassesAndBodiesBetweenJointsAreFine) {
  const std::string point =
      "<link name='b'><inertial><origin xyz='1 0 0'/><mass "
      "value='1'/><inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' "
      "iyz='0'/></inertial></link>";
  const Answer a = urdf(
      robot("<link name='a'/>" + point + joint("j", "a", "b", "<axis xyz='0 1 0'/>")));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_TRUE(model_of(a.parts));
  const Answer b = urdf(robot("<link name='a'/><link name='cross'/>" + box_link("b") +
                              joint("j", "a", "cross", "<axis xyz='0 1 0'/>") +
                              joint("k", "cross", "b")));
  ASSERT_TRUE(b.fine) << b.problems.text();
  const Result<Model> model = model_of(b.parts);
  EXPECT_TRUE(model) << model.error();
}

TEST(Urdf, PrintsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  urdf(robot(box_link("a") + box_link("b")));
  urdf(robot(box_link("a") + "<link name='%s%n'/>" + joint("j", "a", "%s%n")));
  urdf(robot(box_link("a") + box_link("%s%n") + joint("%d", "a", "%s%n")));
  urdf("<robot version='7.0' name='x'><link name='a'/></robot>");
  urdf("<robot>\xff\xfe</robot>");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Urdf, SecondRobotWithTheSameNamesIsRefused) {
  Answer a = urdf(robot(box_link("a")));
  ASSERT_TRUE(a.fine);
  EXPECT_FALSE(read_urdf_text(robot(box_link("a")), "two.urdf", {}, a.parts, a.problems));
  EXPECT_EQ(a.parts.bodies.size(), 1u);
  EXPECT_TRUE(read_urdf_text(robot(box_link("b")), "two.urdf", {}, a.parts, a.problems));
  EXPECT_EQ(a.parts.bodies.size(), 2u);
}

// MJCF.

TEST(Mjcf, WalkerHasDefaultsMotorsAndAStart) {
  Answer a;
  ASSERT_TRUE(read_mjcf(file("walker.xml"), {}, a.parts, a.problems))
      << a.problems.text();
  EXPECT_EQ(a.joint("left_knee").lower, -2);
  EXPECT_EQ(a.joint("left_knee").damping, 0.2);
  EXPECT_EQ(a.joint("left_hip_y").upper, 1.5);
  EXPECT_EQ(a.joint("left_hip_y").damping, 0.5);
  EXPECT_EQ(std::get<Capsule>(a.shape("left_lower").shape).radius, 0.025);
  EXPECT_EQ(std::get<Sphere>(a.shape("left_sole").shape).radius, 0.04);
  // Motors: torques at the joint; positions with the gear counted in.
  EXPECT_EQ(a.motor("left_drive").kind, MotorKind::torque);
  EXPECT_EQ(a.motor("left_drive").target.offset, 20);  // the key's 0.5 times 40
  EXPECT_EQ(a.motor("left_drive").least_force, -40);
  EXPECT_EQ(a.motor("left_drive").largest_force, 40);
  EXPECT_EQ(a.motor("right_knee.motor").least_force, -60);
  EXPECT_EQ(a.motor("right_knee.motor").joint, "right_knee");
  const MotorSpec& hold = a.motor("left_hold");
  EXPECT_EQ(hold.kind, MotorKind::position);
  EXPECT_EQ(hold.kp, 320);
  EXPECT_EQ(hold.target.offset, 0.2);
  EXPECT_EQ(hold.largest_force, 100);
  // The key: velocities of the free joint are ω, then the origin's.
  ASSERT_EQ(a.parts.start.size(), 7u);
  EXPECT_EQ(a.parts.start[0].joint, "root");
  EXPECT_EQ(a.parts.start[0].q, (std::vector<double>{0, 0, 0.8, 1, 0, 0, 0}));
  EXPECT_EQ(a.parts.start[0].v, (std::vector<double>{0, 0, 0.5, 1, 0, 0}));
  ASSERT_EQ(a.problems.warnings().size(), 1u);
  EXPECT_EQ(a.problems.warnings()[0].message,
            "not read, so that the appearance differs: light (1)");
}

TEST(Mjcf, WhatIsSeen) {
  const Answer a = mjcf(mujoco(
      "<asset><mesh name='shell' file='meshes/none.stl' scale='2 2 2'/>"
      "<material name='red' rgba='1 0 0 1'/>"
      "<material name='wood' texture='oak'/></asset>"
      "<worldbody><body name='arm'><freejoint/>"
      "<geom name='shell' type='mesh' mesh='shell' contype='0' conaffinity='0' "
      "density='0' group='2' material='red' pos='0 0 1'/>"
      "<geom name='lamp' size='0.1' contype='0' conaffinity='0' rgba='0 1 0 0.5'/>"
      "<geom name='hidden' size='0.1' contype='0' conaffinity='0' group='4'/>"
      "<geom name='clear' size='0.1' contype='0' conaffinity='0' rgba='1 1 1 0'/>"
      "<geom name='core' type='box' size='1 1 1' group='3' rgba='0 0 1 1'/></body>"
      "<body name='plain' pos='9 0 0'><freejoint/>"
      "<geom name='ball' size='1' group='3' material='wood'/></body></worldbody>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  // Nothing is read of a mesh that is only seen.
  ASSERT_EQ(a.parts.visuals.size(), 2u);
  const Visual& shell = a.parts.visuals[0];
  EXPECT_EQ(shell.body, "arm");
  EXPECT_EQ(shell.mesh->path, file("meshes/none.stl"));
  EXPECT_EQ(shell.mesh->scale.y, 2);
  EXPECT_EQ(shell.pose.p.z, 1);
  EXPECT_EQ(shell.colour, (Colour{1, 0, 0, 1}));
  EXPECT_EQ(std::get<Sphere>(*a.parts.visuals[1].shape).radius, 0.1);
  EXPECT_EQ(a.parts.visuals[1].colour, (Colour{0, 1, 0, 0.5}));
  // A box behind a shell is not drawn; what is all of its body is.
  ASSERT_EQ(a.parts.looks.size(), 2u);
  EXPECT_EQ(a.parts.looks[0].shape, "core");
  EXPECT_FALSE(a.parts.looks[0].drawn);
  EXPECT_EQ(a.parts.looks[0].colour, (Colour{0, 0, 1, 1}));
  EXPECT_TRUE(a.parts.looks[1].drawn);
  EXPECT_FALSE(a.parts.looks[1].colour);  // a texture, whose colour is not known
  // A mesh that is not there is a note; another one is read as it is placed.
  const Result<Model> model = model_of(a.parts);
  ASSERT_TRUE(model) << model.error();
  std::vector<Visual> visuals = a.parts.visuals;
  visuals.push_back(shell);
  visuals.back().mesh->path = file("meshes/tetra.stl");
  const SeenVisuals seen = read_visuals(visuals, model->tree);
  ASSERT_EQ(seen.notes.size(), 1u);
  EXPECT_EQ(seen.notes[0], "seen without 1 visual mesh: there is no mesh file " +
                               file("meshes/none.stl"));
  ASSERT_EQ(seen.visuals.size(), 2u);
  EXPECT_EQ(model->tree.bodies()[static_cast<std::size_t>(seen.visuals[1].body)].name,
            "arm");
  const Result<Triangles> once = import_mesh(file("meshes/tetra.stl"));
  ASSERT_TRUE(once);
  ASSERT_EQ(seen.visuals[1].triangles.vertices.size(), once->vertices.size());
  EXPECT_EQ(norm(seen.visuals[1].triangles.vertices[1] - 2.0 * once->vertices[1]), 0);
}

TEST(Appearance, CoarserMeshesKeepTheirSize) {
  // A ball of many triangles.
  Triangles ball;
  constexpr std::uint32_t around = 300, high = 150;
  for (std::uint32_t j = 0; j <= high; ++j) {
    const double latitude = 3.14159265358979 * (j / double{high} - 0.5);
    for (std::uint32_t i = 0; i < around; ++i) {
      const double longitude = 2 * 3.14159265358979 * i / double{around};
      ball.vertices.push_back({std::cos(latitude) * std::cos(longitude),
                               std::cos(latitude) * std::sin(longitude),
                               std::sin(latitude)});
    }
  }
  for (std::uint32_t j = 0; j < high; ++j) {
    for (std::uint32_t i = 0; i < around; ++i) {
      const std::uint32_t a = j * around + i, b = j * around + (i + 1) % around;
      ball.faces.push_back({a, b, b + around});
      ball.faces.push_back({a, b + around, a + around});
    }
  }
  for (const std::size_t most : {20'000u, 3000u, 200u}) {
    const Triangles less = coarser(ball, most);
    EXPECT_LE(less.faces.size(), most);
    EXPECT_GE(less.faces.size(), most / 5);
    // Each vertex is the mean of those of a cell, whose size follows from the count: a
    // surface of 6 n² cells at most has two triangles each.
    const double cell = std::sqrt(4 * 2 * 6.0 / static_cast<double>(less.faces.size()));
    for (const Vec3<double>& v : less.vertices) EXPECT_NEAR(norm(v), 1, cell);
    for (const auto& face : less.faces) {
      for (const std::uint32_t k : face) ASSERT_LT(k, less.vertices.size());
    }
  }
  EXPECT_EQ(coarser(ball, 1'000'000).faces.size(), ball.faces.size());
}

TEST(Mjcf, OnlyPairsWhoseBitsMeetTouch) {
  Answer a;
  ASSERT_TRUE(read_mjcf(file("walker.xml"), {}, a.parts, a.problems));
  const Result<Model> model = model_of(a.parts, true);
  ASSERT_TRUE(model) << model.error();
  std::set<std::string> touching;
  for (const ShapePair& pair : model->pairs) {
    const std::string& one = model->shapes[pair.a].name;
    const std::string& two = model->shapes[pair.b].name;
    EXPECT_TRUE(one == "ground" || two == "ground") << one << " and " << two;
    touching.insert(one == "ground" ? two : one);
  }
  EXPECT_EQ(touching.size(), 8u);
}

TEST(Mjcf, NeighboursExcludedPairsAndBitsStayApart) {
  const auto pairs = [](const std::string& text) {
    const Answer a = mjcf(text);
    EXPECT_TRUE(a.fine) << a.problems.text();
    const Result<Model> model = model_of(a.parts, true);
    EXPECT_TRUE(model) << model.error();
    std::set<std::string> all;
    if (!model) return all;
    for (const ShapePair& pair : model->pairs) {
      all.insert(model->shapes[pair.a].name + "-" + model->shapes[pair.b].name);
    }
    return all;
  };
  const auto body = [](const char* name, const char* joints, const std::string& inside,
                       const char* bits = "") {
    return std::string("<body name='B") + name + "'>" + joints + "<geom name='" + name +
           "' size='0.1' pos='0.3 0.2 0.1' " + bits + "/>" + inside + "</body>";
  };
  const char* two = "<joint axis='1 0 0'/><joint axis='0 1 0'/>";
  using Set = std::set<std::string>;
  // Parent and child stay apart, with two joints between as well; also with what is
  // welded to them.
  EXPECT_EQ(pairs(world(body("a", two, body("b", two, body("c", two, ""))))),
            (Set{"a-c"}));
  EXPECT_EQ(pairs(world(body("a", two, body("w", "", body("b", two, ""))))), Set{});
  // The world touches its children.
  EXPECT_EQ(pairs(world("<geom name='g' size='1'/>" + body("a", two, ""))), (Set{"g-a"}));
  EXPECT_EQ(pairs(world("<geom name='g' size='1' conaffinity='0' contype='2'/><geom "
                        "name='h' size='1'/>" +
                        body("a", two, "") + body("b", two, ""))),
            (Set{"a-b", "h-a", "h-b"}));
  EXPECT_EQ(pairs(mujoco("<worldbody><geom name='g' size='1'/>" + body("a", two, "") +
                         "</worldbody><contact><exclude body1='world' body2='Ba'/>"
                         "</contact>")),
            Set{});
  EXPECT_EQ(pairs(mujoco("<worldbody>" + body("a", two, "") + body("b", two, "") +
                         body("c", two, "", "contype='2' conaffinity='4'") +
                         body("d", two, "", "contype='4' conaffinity='1'") +
                         "</worldbody><contact><exclude body1='Bb' body2='Ba'/>"
                         "</contact>")),
            (Set{"a-d", "b-d", "c-d"}));
}

TEST(Mjcf, ConnectAndWeldAreLoopsThatAreClosedAtTheReference) {
  RobotOptions options;
  options.pose.p = {5, 6, 7};
  const char* bar = "<joint axis='0 1 0'/><geom type='capsule' size='0.1 0.2'/>";
  const auto read = [&](const std::string& equality) {
    const std::string one = std::string("<body name='a' pos='1 2 3'>") + bar + "</body>";
    const std::string two =
        std::string("<body name='b' pos='-1 0 2' euler='30 40 50'>") + bar + "</body>";
    return mjcf(mujoco("<worldbody>" + one + two + "</worldbody><equality>" + equality +
                       "</equality>"),
                options);
  };
  const auto gap = [](const Answer& a) {
    const Result<Model> model = model_of(a.parts);
    EXPECT_TRUE(model) << model.error();
    System system(*model);
    const State state = make_state(*model);
    kinematics<double>(model->tree, state.q, state.v, system.tree);
    return loop_gap(system);
  };
  for (const char* text :
       {"<connect body1='a' body2='b' anchor='0.1 0.2 0.3'/>",
        "<connect name='c' body1='b' anchor='0.1 0.2 0.3'/>",
        "<connect body1='world' body2='b' anchor='0.1 0.2 0.3'/>",
        "<weld body1='a' body2='b'/>", "<weld body1='b'/>",
        "<weld body1='a' body2='world' relpose='0 1 0 0 0 0 0'/>",
        "<weld body1='world' body2='a' relpose='1 2 3 2 0 0 0'/>",
        "<weld body1='a' body2='world' relpose='-1 -2 -3 1 0 0 0'/>"}) {
    const Answer a = read(text);
    ASSERT_TRUE(a.fine) << a.problems.text();
    ASSERT_EQ(a.parts.loops.size(), 1u) << text;
    EXPECT_LT(gap(a).distance, 1e-14) << text;
    EXPECT_LT(gap(a).angle, 1e-14) << text;
  }
  // The anchor is a point of the first body, the pose that of the second in the first.
  const Vec3<double> anchor =
      read("<connect body1='a' body2='b' anchor='0.1 0.2 0.3'/>").parts.loops[0].pose_a.p;
  EXPECT_EQ(norm(anchor - Vec3<double>{0.1, 0.2, 0.3}), 0);
  EXPECT_NEAR(
      gap(read("<weld body1='world' body2='a' relpose='1 2 4 1 0 0 0'/>")).distance, 1,
      1e-14);
  const Answer odd = read(
      "<connect body1='a' body2='b' anchor='0 0 0' active='false' solref='1 1'/>"
      "<weld body1='a' body2='a'/>");
  ASSERT_TRUE(odd.fine) << odd.problems.text();
  EXPECT_TRUE(odd.parts.loops.empty());
  ASSERT_EQ(odd.problems.warnings().size(), 1u);
  EXPECT_EQ(odd.problems.warnings()[0].message,
            "not read, limits and couplings are as hard as by default: connect solref "
            "(1)");
  expect_problem(read("<connect site1='x' site2='y'/>"),
                 "connect: site1 = \"x\" must be a site of the model");
  expect_problem(read("<connect body1='a' body2='b'/>"), "connect: it must have anchor");
  expect_problem(read("<weld body1='ghost'/>"),
                 "weld: body1 = \"ghost\" must be a body of the model");
}

TEST(Mjcf, GeomsWithoutContactHaveMassOnly) {
  const Answer a =
      mjcf(world("<body name='a'><joint/><geom size='0.1' mass='3' contype='0' "
                 "conaffinity='0'/></body>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_NEAR(a.body("a").mass, 3, 1e-14);
  EXPECT_TRUE(a.parts.shapes.empty());
  EXPECT_TRUE(a.problems.warnings().empty());
}

TEST(Mjcf, MeshesThatAreOnlySeenNeedNotBeThere) {
  const std::string see = "<mesh name='seen' file='none.obj'/>";
  const std::string inertial = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>";
  const std::string look =
      "<geom type='mesh' mesh='seen' contype='0' conaffinity='0'/></body></worldbody>";
  EXPECT_TRUE(mjcf(mujoco("<asset>" + see + "</asset><worldbody><body><joint/>" +
                          inertial + look))
                  .fine);
  // They do where they make up the mass.
  expect_problem(
      mjcf(mujoco("<asset>" + see + "</asset><worldbody><body><joint/>" + look)),
      "there is no mesh file");
}

TEST(Mjcf, StatesOfReferencedJointsAreOurs) {
  const Answer a =
      mjcf(mujoco("<compiler angle='radian'/><worldbody><body name='a'>"
                  "<joint name='j' ref='0.5' range='-1 1' stiffness='2' springref='0.7'/>"
                  "<geom size='1'/></body></worldbody>"
                  "<actuator><position name='p' joint='j' kp='3'/></actuator>"
                  "<keyframe><key qpos='0.9' ctrl='0'/></keyframe>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_NEAR(a.joint("j").lower, -1.5, 1e-15);
  EXPECT_NEAR(a.joint("j").upper, 0.5, 1e-15);
  EXPECT_NEAR(a.joint("j").rest, 0.2, 1e-15);
  EXPECT_NEAR(a.motor("p").target.offset, -0.5, 1e-15);
  EXPECT_NEAR(a.parts.start[0].q[0], 0.4, 1e-15);
}

TEST(Mjcf, FreeBodiesBeginWhereTheyStand) {
  RobotOptions options;
  options.pose.p = {10, 0, 0};
  const Answer a = mjcf(
      world("<body name='a' pos='1 2 3'><freejoint/><geom size='1'/></body>"), options);
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.joint("a.joint").on_parent.p.x, 10);
  EXPECT_EQ(a.parts.start[0].q, (std::vector<double>{1, 2, 3, 1, 0, 0, 0}));
}

TEST(Mjcf, NamesOfTheFileComeFirst) {
  // Unnamed things are called differently from named ones that come later, and a geom
  // from a body that does.
  const Answer a =
      mjcf(world("<body><joint/><geom name='foot' size='1'/></body>"
                 "<body name='body'><joint name='body2.joint'/><geom size='1'/></body>"
                 "<body name='foot'><joint/><geom size='1'/></body>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.bodies[0].name, "body2");
  EXPECT_EQ(a.parts.joints[0].name, "body2.joint2");
  EXPECT_EQ(a.parts.shapes[0].name, "body2.foot");
  EXPECT_EQ(a.parts.bodies[2].name, "foot");
}

TEST(Mjcf, AnglesInDegreesAndEulerSequences) {
  const Answer a = mjcf(mujoco(
      "<compiler eulerseq='ZYx'/><worldbody>"
      "<body name='a' euler='90 90 0'><joint range='-90 180'/><geom size='1'/></body>"
      "</worldbody>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_NEAR(a.joint("a.joint").upper, std::numbers::pi, 1e-15);
  // About fixed z, then fixed y: x → y → y.
  const Mat3<double>& r = a.joint("a.joint").on_parent.R;
  EXPECT_LT(norm(r.x - Vec3<double>{0, 1, 0}), 1e-15);
  EXPECT_LT(norm(r.z - Vec3<double>{1, 0, 0}), 1e-15);
}

TEST(Mjcf, MeshesOfVerticesWeighWhatTheyEnclose) {
  // A sheared box of edges a, b, c: M = ρ det, second moments (aaᵀ + bbᵀ + ccᵀ) M/12.
  const Vec3<double> e[3] = {{0.5, 0.1, 0}, {0, 0.3, 0.1}, {0.2, 0, 0.4}};
  std::string vertices;
  for (int i = 0; i < 8; ++i) {
    Vec3<double> p{1, 2, 3};
    for (int k = 0; k < 3; ++k) {
      if ((i >> k & 1) != 0) p = p + e[k];
    }
    for (const double x : {p.x, p.y, p.z}) vertices += std::to_string(x) + " ";
  }
  const Answer a = mjcf(
      mujoco("<asset><mesh name='m' vertex='" + vertices +
             "'/></asset><worldbody><body name='b'><joint/><geom type='mesh' mesh='m' "
             "density='100'/></body></worldbody>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  const double mass = 100 * dot(e[0], cross(e[1], e[2]));
  EXPECT_NEAR(a.body("b").mass, mass, 1e-12);
  const Vec3<double> centre = Vec3<double>{1, 2, 3} + 0.5 * (e[0] + e[1] + e[2]);
  EXPECT_LT(norm(a.body("b").com - centre), 1e-13);
  const Sym3<double> second = (mass / 12) * (outer(e[0]) + outer(e[1]) + outer(e[2]));
  const double t = trace(second);
  const Sym3<double> error =
      a.body("b").inertia - (Sym3<double>::diagonal(t, t, t) - second);
  for (const double x : {error.xx, error.yy, error.zz, error.xy, error.xz, error.yz}) {
    EXPECT_NEAR(x, 0, 1e-13);
  }
}

TEST(Mjcf, MeshesWeighAsTheirKindOfInertiaSays) {
  // A box of 2 × 2 × 2 m without its lid.
  const auto body = [](const std::string& kind) {
    const Answer a = mjcf(mujoco(
        "<asset><mesh name='m'" + kind +
        " vertex='-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1' "
        "face='0 2 1 0 3 2 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7'/></asset>"
        "<worldbody><body name='b'><joint/><geom type='mesh' mesh='m' density='3'/>"
        "</body></worldbody>"));
    EXPECT_TRUE(a.fine) << a.problems.text();
    return a.body("b");
  };
  // Five sides of 4 m².
  const BodySpec shell = body(" inertia='shell'");
  EXPECT_NEAR(shell.mass, 3 * 20, 1e-12);
  EXPECT_NEAR(shell.com.z, -0.2, 1e-14);
  EXPECT_NEAR(body(" inertia='convex'").mass, 3 * 8, 1e-12);
  // Pyramids over the middle of the surface, at z = −0.2, have their centre at −0.175:
  // (4 · 0.8/3 · (−0.8) + 16/3 · (−0.05))/(4 · 0.8/3 + 16/3). Those over it count.
  EXPECT_NEAR(body("").mass, 3 * (4 * 0.825 / 3 + 16.0 / 3), 1e-12);
  EXPECT_NEAR(body("").com.z, -0.175, 1e-14);
  EXPECT_NEAR(body(" inertia='legacy'").mass, body("").mass, 0);
  expect_problem(mjcf(mujoco("<asset><mesh name='m' inertia='thin' vertex='0 0 0 1 0 0 0 "
                             "1 0 0 0 1'/></asset><worldbody><body><joint/><geom "
                             "type='mesh' mesh='m'/></body></worldbody>")),
                 "inertia = thin must be legacy, exact, convex or shell");
}

TEST(Mjcf, ShapesTakeTheSizeOfTheirMesh) {
  // A box of 2 × 4 × 6 m: the shape's own z is the longest side.
  const std::string asset =
      "<asset><mesh name='m' vertex='0 0 0 6 0 0 0 4 0 6 4 0 0 0 2 6 0 2 0 4 2 6 4 2'/>"
      "</asset>";
  const auto shape = [&](const std::string& compiler, const std::string& geom) {
    const Answer a =
        mjcf(mujoco(compiler + asset + "<worldbody><body name='b'><joint/>" +
                    "<geom name='g' mesh='m' " + geom + "/></body></worldbody>"));
    EXPECT_TRUE(a.fine) << a.problems.text();
    EXPECT_LT(norm(a.shape("g").pose.p - Vec3<double>{3, 2, 1}), 1e-12) << geom;
    EXPECT_NEAR(std::abs(a.shape("g").pose.R.z.x), 1, 1e-12) << geom;
    return a.shape("g").shape;
  };
  const Vec3<double> box = std::get<Box>(shape("", "type='box'")).half;
  EXPECT_LT(norm(box - Vec3<double>{1, 2, 3}), 1e-12);
  const auto capsule = std::get<Capsule>(shape("", "type='capsule' fitscale='2'"));
  EXPECT_NEAR(capsule.radius, 2 * 1.5, 1e-12);
  EXPECT_NEAR(capsule.half_length, 2 * (3 - 0.75), 1e-12);
  const std::string around = "<compiler fitaabb='true'/>";
  EXPECT_NEAR(std::get<Cylinder>(shape(around, "type='cylinder'")).radius, 2, 1e-12);
  EXPECT_NEAR(std::get<Capsule>(shape(around, "type='capsule'")).half_length, 1, 1e-12);
}

TEST(Mjcf, TimestepAndGravity) {
  const Answer a = mjcf(mujoco("<option gravity='0 0 -1.62' timestep='0.004'/>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.gravity->z, -1.62);
  EXPECT_EQ(a.parts.timestep, 0.004);
  EXPECT_TRUE(a.problems.warnings().empty());
  EXPECT_EQ(
      norm(*mjcf(mujoco("<option><flag gravity='disable'/></option>")).parts.gravity), 0);
}

TEST(Mjcf, NamesWhatItDoesNotRead) {
  const Answer a = mjcf(
      mujoco("<size njmax='5'/><visual><map/></visual><equality><flex/></equality>"
             "<worldbody><site/><geom type='box' size='1 1 1' condim='6' margin='1'/>"
             "<body><joint type='ball' stiffness='1' margin='0'/>"
             "<geom size='1'/><camera/></body></worldbody>"
             "<sensor><magnetometer/></sensor>"
             "<actuator><muscle joint='x'/></actuator>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  const std::vector<std::string> expected{
      "not read, so that the joints they drive are not held: muscle actuator (1)",
      "not read, so that what they hold together is loose: flex equality (1)",
      "not read, so that the motion differs: stiffness of a ball joint (1)",
      "not read, so that contacts differ: margin of a geom that is not round (1), "
      "rolling "
      "and spinning friction of a geom (1)",
      "not read, limits and couplings are as hard as by default: joint margin (1)",
      "not read, so that nothing is measured there: magnetometer sensor (1)",
      "not read, so that the appearance differs: camera (1), size (1), visual (1)"};
  ASSERT_EQ(a.problems.warnings().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(a.problems.warnings()[i].message, expected[i]);
  }
}

/// A joint along x with a box of 2 kg on it, and what is said of it.
Answer driven(const std::string& actuator, const std::string& key = "",
              const std::string& defaults = "") {
  return mjcf(mujoco("<default>" + defaults +
                     "</default><worldbody><body name='b'>"
                     "<joint name='j' type='slide' axis='1 0 0' ref='0.5'/>"
                     "<geom type='box' size='1 1 1' mass='2'/></body></worldbody>"
                     "<actuator>" +
                     actuator + "</actuator><keyframe>" + key + "</keyframe>"));
}

TEST(Mjcf, ActuatorsBecomeMotorsOfTheSameForce) {
  // f = gear (g u + b0) + gear² (b1 (q + ref) + b2 q̇), here at q = 0.3, q̇ = −0.2.
  struct Case {
    const char* actuator;
    double control, force;
  };
  const double l = 3 * 0.8, rate = 3 * -0.2;
  for (const Case& c : {
           Case{"<motor joint='j' gear='3'/>", 2, 3 * 2.0},
           Case{"<position joint='j' gear='3' kp='7' kv='2'/>", 2,
                3 * (7 * (2 - l) - 2 * rate)},
           Case{"<velocity joint='j' gear='3' kv='5'/>", 2, 3 * (5 * (2 - rate))},
           Case{"<damper joint='j' gear='3' kv='5' ctrlrange='0 9'/>", 2,
                3 * (-5 * 2 * rate)},
           Case{"<cylinder joint='j' gear='3' area='4' bias='1 -2 -3'/>", 2,
                3 * (4 * 2 + 1 - 2 * l - 3 * rate)},
           Case{"<general joint='j' gear='3' gainprm='4' biastype='affine' biasprm='1 -2 "
                "-3'/>",
                2, 3 * (4 * 2 + 1 - 2 * l - 3 * rate)},
           Case{"<general joint='j' gear='3' gaintype='affine' gainprm='4 -1 -2'/>", 2,
                3 * (4 - l - 2 * rate) * 2},
           Case{"<general joint='j' gear='3' gainprm='4' biasprm='1 -2 -3'/>", 2,
                3 * 4 * 2.0},
           Case{"<motor joint='j' gear='-3' ctrlrange='-1 1'/>", 2, -3.0},
           Case{"<position joint='j' gear='3' kp='70' forcerange='-5 6'/>", 2, 3 * -5.0},
       }) {
    // A cylinder follows its control with a delay: it has arrived.
    const bool lags = std::string_view(c.actuator).starts_with("<cylinder");
    const Answer a = driven(c.actuator, lags ? "<key qpos='0.8' ctrl='2' act='2'/>"
                                             : "<key qpos='0.8' ctrl='2'/>");
    ASSERT_TRUE(a.fine) << a.problems.text();
    const Result<Model> model = model_of(a.parts);
    ASSERT_TRUE(model) << model.error();
    System system(*model);
    State state = make_state(*model);
    state.q[0] = 0.3;
    state.v[0] = -0.2;
    ASSERT_EQ(settle(system, 1e-3, state), StepStatus::ok);
    apply_forces(system, {}, 0, state.q, state.v, state, memory_of(std::as_const(state)),
                 rates_of(system.pools), {});
    EXPECT_NEAR(system.motor_forces[0], c.force, 1e-12) << c.actuator;
    EXPECT_NEAR(system.powers.motors, c.force * -0.2, 1e-12) << c.actuator;
  }
}

TEST(Mjcf, ActuatorsTakeTheirDefaultsLayerByLayer) {
  const Answer a = driven("<position class='strong' joint='j'/>", "",
                          "<position kp='10' kv='1'/><default class='strong'><position "
                          "kp='40'/></default>");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.motors[0].kp, 40);
  EXPECT_EQ(a.parts.motors[0].kd, 1);
  // Half of critical for the two kilograms: 2 ½ √(40 · 2).
  const Answer half = driven("<position joint='j' kp='40' dampratio='0.5'/>");
  const Result<Model> model = model_of(half.parts);
  ASSERT_TRUE(model) << model.error();
  EXPECT_NEAR(model->motors[0].kd, std::sqrt(80.0), 1e-12);
}

TEST(Mjcf, ControlsOfAKeyframeOrItsPose) {
  const char* servo = "<position joint='j' kp='10' gear='2'/>";
  // Ours is 0 at ref: length 2 (q + 0.5) = u.
  EXPECT_NEAR(driven(servo, "<key qpos='1.5' ctrl='4'/>").parts.motors[0].target.offset,
              1.5, 1e-15);
  EXPECT_NEAR(driven(servo, "<key qpos='1.5'/>").parts.motors[0].target.offset, 1, 1e-15);
  EXPECT_NEAR(driven(servo).parts.motors[0].target.offset, -0.5, 1e-15);
  RobotOptions options;
  options.key = "two";
  const std::string two = mujoco(
      "<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
      "<keyframe><key name='one' qpos='0.1'/><key name='two' qpos='0.2'/></keyframe>");
  EXPECT_NEAR(mjcf(two, options).parts.start[0].q[0], 0.2, 1e-15);
  EXPECT_EQ(mjcf(two).parts.keys, (std::vector<std::string>{"one", "two"}));
  options.key = "three";
  expect_problem(mjcf(two, options),
                 "key = \"three\" must be a keyframe of the model: one, two");
}

TEST(Mjcf, QuaternionOfZerosInAKeyframeIsNoTurn) {
  const Answer a =
      mjcf(mujoco("<worldbody><body><joint name='j' type='ball'/><geom "
                  "size='1'/></body></worldbody><keyframe><key qpos='0 0 0 "
                  "0'/></keyframe>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.start.at(0).q, (std::vector<double>{1, 0, 0, 0}));
  ASSERT_EQ(a.problems.warnings().size(), 1u);
}

TEST(Mjcf, TendonsAndEqualJointsAreCouplings) {
  const Answer a = mjcf(mujoco(
      "<worldbody><body><joint name='x' type='slide' ref='0.2'/><geom size='1'/></body>"
      "<body><joint name='y' type='slide' axis='0 1 0'/><geom size='1'/></body>"
      "<body><joint name='z' type='slide'/><geom size='1'/></body></worldbody>"
      "<tendon><fixed name='t' stiffness='5' damping='2' springlength='0.7'>"
      "<joint joint='x' coef='2'/><joint joint='y' coef='-1'/></fixed></tendon>"
      "<equality><joint joint1='z' joint2='y' polycoef='0.1 3 0 0 0'/></equality>"
      "<actuator><position tendon='t' kp='10' gear='3'/></actuator>"
      "<keyframe><key qpos='0 0 0' ctrl='6'/></keyframe>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  ASSERT_EQ(a.parts.couplings.size(), 2u);
  // Equalities are read first.
  EXPECT_EQ(a.parts.couplings[0].terms[1].weight, -3);
  EXPECT_EQ(a.parts.couplings[0].rest, 0.1);
  EXPECT_EQ(a.parts.couplings[1].stiffness, 5);
  EXPECT_NEAR(a.parts.couplings[1].rest, 0.7 - 2 * 0.2, 1e-15);
  const MotorSpec& motor = a.parts.motors[0];
  EXPECT_EQ(motor.coupling, "t");
  EXPECT_EQ(motor.kp, 90);
  EXPECT_NEAR(motor.target.offset, 6.0 / 3 - 0.4, 1e-15);
  const Result<Model> model = model_of(a.parts);
  ASSERT_TRUE(model) << model.error();
  EXPECT_EQ(model->motors[0].v, -1);
  expect_problem(
      mjcf(mujoco("<tendon><fixed><joint joint='q' coef='1'/></fixed></tendon>")),
      "joint = \"q\" must be a hinge or slide joint of the model");
}

TEST(Mjcf, SoftContactsSinkInAsInMuJoCo) {
  // r = (1 − d) g/(d k), k = 1/(d_max T ζ)²: as deep as a spring of m ω² under m g.
  const Answer a = mjcf(world(
      "<geom type='plane' size='1 1 1' friction='0.3'/><body><freejoint/>"
      "<geom size='0.1' mass='2' friction='0.7' solref='0.03 1.2' solimp='0.8 0.9'/>"
      "</body>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  const ContactSpec& rule = a.parts.touch_rules.back();  // of some pair of two kinds
  EXPECT_NE(rule.a, "*");
  bool found = false;
  for (const ContactSpec& each : a.parts.touch_rules) {
    if (each.a == each.b || each.b == "*" || each.a == "*") continue;
    found = true;
    const double d = 0.5 * (0.8 + 0.9), most = 0.5 * (0.9 + 0.95);
    const double time = 0.5 * (0.03 + 0.02) * 0.5 * (1.2 + 1);
    const double k = 1 / (most * most * time * time);
    EXPECT_NEAR(each.from_pair.frequency, std::sqrt(d * k / (1 - d)), 1e-9);
    EXPECT_EQ(each.from_pair.friction, 0.7);
  }
  EXPECT_TRUE(found);
}

TEST(Mjcf, GeomsOfPairsTouchEachOtherOnly) {
  const Answer a = mjcf(mujoco(
      "<worldbody><geom name='floor' type='plane' size='1 1 1'/>"
      "<body name='b'><freejoint/><geom name='sole' size='0.1' contype='0' "
      "conaffinity='0'/></body><body name='c'><freejoint/><geom name='other' size='0.1'/>"
      "</body></worldbody><contact><pair geom1='sole' geom2='floor' friction='0.3'/>"
      "</contact>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  const Result<Model> model = model_of(a.parts, true);
  ASSERT_TRUE(model) << model.error();
  std::set<std::pair<std::string, std::string>> touching;
  for (const ShapePair& pair : model->pairs) {
    touching.insert(std::minmax(model->shapes[pair.a].name, model->shapes[pair.b].name));
  }
  EXPECT_EQ(touching, (std::set<std::pair<std::string, std::string>>{{"floor", "other"},
                                                                     {"floor", "sole"}}));
}

TEST(Mjcf, MarginsMakeRoundShapesLarger) {
  const Answer a =
      mjcf(world("<body><freejoint/><geom name='ball' size='0.1' mass='1' "
                 "margin='0.003' gap='0.001'/><geom name='rod' "
                 "type='capsule' size='0.1 0.2' margin='0.01'/></body>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_NEAR(std::get<Sphere>(a.shape("ball").shape).radius, 0.102, 1e-15);
  EXPECT_NEAR(std::get<Capsule>(a.shape("rod").shape).radius, 0.11, 1e-15);
  EXPECT_EQ(std::get<Capsule>(a.shape("rod").shape).half_length, 0.2);
}

TEST(Mjcf, TendonsThatAreEqualAreCoupled) {
  const auto with = [](const std::string& equality) {
    return mjcf(mujoco(
        "<worldbody><body><joint name='x' type='slide' ref='0.2'/><geom size='1'/></body>"
        "<body><joint name='y' type='slide'/><geom size='1'/></body>"
        "<body><joint name='z' type='slide'/><geom size='1'/></body></worldbody>"
        "<tendon><fixed name='s'><joint joint='x' coef='2'/><joint joint='y' coef='4'/>"
        "</fixed><fixed name='t'><joint joint='y' coef='1'/><joint joint='z' coef='-3'/>"
        "</fixed></tendon><equality>" +
        equality + "</equality>"));
  };
  const Answer a = with("<tendon tendon1='s' tendon2='t' polycoef='0.1 4 0 0 0'/>");
  ASSERT_TRUE(a.fine) << a.problems.text();
  ASSERT_EQ(a.parts.couplings.size(), 3u);
  const CouplingSpec& both = a.parts.couplings.back();
  EXPECT_EQ(both.rest, 0.1);
  EXPECT_GT(both.frequency, 0);
  ASSERT_EQ(both.terms.size(), 2u);  // 2 x + 4 y = 0.1 + 4 (y − 3 z)
  EXPECT_EQ(both.terms[0].joint, "x");
  EXPECT_EQ(both.terms[0].weight, 2);
  EXPECT_EQ(both.terms[1].joint, "z");
  EXPECT_EQ(both.terms[1].weight, 12);
  const Answer alone = with("<tendon tendon1='s'/>");
  ASSERT_TRUE(alone.fine) << alone.problems.text();
  EXPECT_EQ(alone.parts.couplings.back().terms.size(), 2u);
  expect_problem(with("<tendon tendon1='u'/>"),
                 "tendon1 = \"u\" must be a tendon of the model");
}

TEST(Softness, RestsWhereMuJoCoDoes) {
  // (1 − d(r)) a = d(r) k r, d from 0.015 to 1 over 22 mm.
  Softness soft;
  const double solimp[5] = {0.015, 1, 0.022, 0.5, 2};
  std::copy(solimp, solimp + 5, soft.solimp);
  EXPECT_NEAR(soft.impedance(0), 0.015, 1e-15);
  EXPECT_NEAR(soft.impedance(0.011), 0.5 * (0.015 + 0.9999), 1e-15);
  EXPECT_NEAR(soft.impedance(1), 0.9999, 1e-15);
  const double k = 1 / std::pow(0.02 * 0.9999, 2);
  for (const double a : {0.1, 10.0, 300.0}) {
    const double r = soft.depth_under(a), d = soft.impedance(r);
    EXPECT_NEAR((1 - d) * a, d * k * r, 1e-9 * a);
    EXPECT_NEAR(std::pow(soft.frequency_under(a), 2) * r, a, 1e-9 * a);
  }
  // A constant d makes a linear spring.
  soft.solimp[0] = soft.solimp[1] = 0.8;
  EXPECT_NEAR(soft.frequency_under(7), soft.frequency(), 1e-9);
}

TEST(Mjcf, FramesAndCopiesAreBodiesOfTheirOwn) {
  const Answer a = mjcf(
      mujoco("<compiler angle='radian'/><worldbody><frame pos='1 0 0' euler='0 0 "
             "1.5707963267948966'>"
             "<body name='b' pos='1 0 0'><joint name='j'/><geom size='1'/></body></frame>"
             "<replicate count='3' offset='0 2 0' sep='_'><body name='c'><freejoint/>"
             "<geom name='g' size='0.1'/></body></replicate></worldbody>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_LT(norm(a.joint("j").on_parent.p - Vec3<double>{1, 1, 0}), 1e-15);
  EXPECT_EQ(a.body("c_2").mass, a.body("c_0").mass);
  EXPECT_EQ(a.parts.start.back().q[1], 4);
  expect_problem(mjcf(world("<replicate count='1.5'><geom size='1'/></replicate>")),
                 "replicate: it must have a whole count");
  expect_problem(mjcf(world("<replicate count='1e9'><geom size='1'/></replicate>")),
                 "replicate: it must have a whole count");
}

TEST(Mjcf, StringsRunOverSitesRoundGeomsAndPulleys) {
  const auto string_of = [](const std::string& attributes, const std::string& inside) {
    return mjcf(mujoco(
        "<compiler angle='radian'/><worldbody><site name='up' pos='0 0 2'/>"
        "<geom name='drum' type='cylinder' size='0.1 0.2' pos='0.2 0 1' contype='0' "
        "conaffinity='0'/><geom name='box' type='box' size='1 1 1' contype='0' "
        "conaffinity='0'/>"
        "<body name='b'><joint name='j' type='slide' axis='0 0 1' springref='0.5'/>"
        "<geom size='0.1'/><site name='s' pos='0.1 0 0'/></body></worldbody>"
        "<tendon><spatial name='t' " +
        attributes + ">" + inside +
        "</spatial></tendon><actuator><motor tendon='t'/></actuator>"));
  };
  const std::string plain = "<site site='up'/><site site='s'/>";
  // At rest where the springs of the joints are.
  Answer a = string_of("stiffness='3'", plain);
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_NEAR(a.parts.couplings[0].rest, std::sqrt(0.01 + 1.5 * 1.5), 1e-14);
  EXPECT_EQ(a.parts.couplings[0].slack, 0);
  EXPECT_EQ(a.motor("t.motor").coupling, "t");
  a = string_of("stiffness='3' springlength='0.2 1.2' range='0 1.9'",
                "<site site='up'/><geom geom='drum' sidesite='up'/><site site='s'/>"
                "<pulley divisor='2'/>" +
                    plain);
  ASSERT_TRUE(a.fine) << a.problems.text();
  const CouplingSpec& string = a.parts.couplings[0];
  EXPECT_EQ(string.rest, 0.2);
  EXPECT_EQ(string.slack, 1);
  EXPECT_EQ(string.lower, -HUGE_VAL);  // no string is shorter than nothing
  EXPECT_EQ(string.upper, 1.9);
  ASSERT_EQ(string.path.size(), 6u);
  EXPECT_EQ(string.path[1].part, PathPart::cylinder);
  EXPECT_EQ(string.path[1].radius, 0.1);
  EXPECT_EQ(string.path[1].side_body, world_name);
  EXPECT_EQ(string.path[3].divisor, 2);
  EXPECT_TRUE(model_of(a.parts));
  expect_problem(string_of("", "<site site='up'/><site site='no'/>"),
                 "site = \"no\" must be a site of the model");
  expect_problem(string_of("", "<site site='up'/><geom geom='box'/><site site='s'/>"),
                 "geom = \"box\" must be a sphere or a cylinder of the model");
  expect_problem(string_of("", "<site site='up'/>"), "begin and end with a point");
  expect_problem(string_of("", "<site site='up'/><site site='up'/>"), "on one body");
  expect_problem(string_of("range='2 1'", plain), "range = 2 1 must not fall");
}

TEST(Mjcf, SumsHaveLimitsAndSlack) {
  const Answer a = mjcf(mujoco(
      "<default><tendon range='-1 2'/></default><worldbody><body name='b'>"
      "<joint name='j' type='slide' ref='0.5'/><geom size='0.1'/></body></worldbody>"
      "<tendon><fixed name='t' stiffness='3' springlength='0.25 0.75'>"
      "<joint joint='j' coef='2'/></fixed></tendon>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.couplings[0].lower, -2);  // where the joint is at −0.5
  EXPECT_EQ(a.parts.couplings[0].upper, 1);
  EXPECT_EQ(a.parts.couplings[0].rest, -0.75);
  EXPECT_EQ(a.parts.couplings[0].slack, 0.5);
}

TEST(Mjcf, ActuatorsAtSitesPushTheirBodies) {
  const auto craft = [](const std::string& actuator) {
    return mjcf(mujoco(
        "<option gravity='0 0 0'/><worldbody><body name='craft'><freejoint/>"
        "<geom type='box' size='0.1 0.1 0.1' mass='2'/><site name='rotor' pos='0 0.1 0'/>"
        "</body><site name='ground'/></worldbody><actuator>" +
        actuator +
        "</actuator>"
        "<keyframe><key ctrl='3'/></keyframe>"));
  };
  const Answer a = craft("<motor name='r' site='rotor' gear='0 0 2 0 0 0.1'/>");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("r").target.offset, 3);
  ASSERT_EQ(a.parts.couplings.size(), 1u);
  EXPECT_EQ(a.parts.couplings[0].wrench->unit.force.z, 2);
  EXPECT_EQ(a.parts.couplings[0].wrench->unit.torque.z, 0.1);
  EXPECT_EQ(a.parts.couplings[0].wrench->pose.p.y, 0.1);
  EXPECT_TRUE(model_of(a.parts));
  expect_problem(craft("<motor site='no'/>"), "site = \"no\" must be a site");
  expect_problem(craft("\n<motor site='rotor' gear='0'/>"),
                 ":3: motor \"rotor\": gear = 0 must not be 0");
  const Answer unread = craft("<general site='rotor' gaintype='muscle'/>");
  ASSERT_TRUE(unread.fine) << unread.problems.text();
  EXPECT_TRUE(unread.parts.couplings.empty());
  const Answer against = craft("<motor site='rotor' refsite='ground'/>");
  ASSERT_EQ(against.problems.warnings().size(), 1u);
  EXPECT_NE(
      against.problems.warnings()[0].message.find("motor of a site against another (1)"),
      std::string::npos);
}

TEST(Mjcf, ActivationsLagBehindTheirControls) {
  const auto lag_of = [](const std::string& actuator, const std::string& key) {
    return mjcf(mujoco(
        "<compiler angle='radian'/><worldbody><body name='b'>"
        "<joint name='j' range='-1 2'/><geom size='0.1'/></body></worldbody><actuator>" +
        actuator + "</actuator><keyframe><key " + key + "/></keyframe>"));
  };
  Answer a = lag_of("<position name='m' joint='j' kp='4' timeconst='0.1'/>",
                    "ctrl='0.5' act='0.25'");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("m").lag.kind, LagKind::filter);
  EXPECT_EQ(a.motor("m").lag.time, 0.1);
  EXPECT_EQ(a.motor("m").lag.start, 1);
  EXPECT_EQ(a.motor("m").target.offset, 0.5);
  a = lag_of("<intvelocity name='m' joint='j' kp='4' kv='0.5' inheritrange='1'/>",
             "ctrl='0.5'");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("m").lag.kind, LagKind::integrator);
  EXPECT_EQ(a.motor("m").lag.least, -4);
  EXPECT_EQ(a.motor("m").lag.largest, 8);
  EXPECT_EQ(a.motor("m").kd, 0.5);
  // Without controls it holds the pose of the keyframe.
  a = lag_of("<intvelocity name='m' joint='j' kp='4' actrange='-1 2'/>", "qpos='0.75'");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("m").lag.start, 3);
  EXPECT_EQ(a.motor("m").target.offset, 0);
  // A position actuator takes over the range of its joint.
  a = lag_of("<position name='m' joint='j' kp='4' inheritrange='0.5'/>", "ctrl='9'");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("m").target.offset, 1.25);
}

TEST(Mjcf, HeightFieldsArePrismsOnABase) {
  // Four cells: two in one plane, and two that are bent.
  const Answer a = mjcf(mujoco(
      "<asset><hfield name='land' nrow='3' ncol='3' size='2 1 0.5 0.1' "
      "elevation='1 0 3 0 0 0 0 0 0'/></asset><worldbody>"
      "<geom name='ground' type='hfield' hfield='land' pos='0 0 1'/><body name='b' "
      "pos='0 0 3'><freejoint/><geom type='capsule' size='0.1 "
      "0.2'/></body></worldbody>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_TRUE(a.problems.warnings().empty());
  ASSERT_EQ(a.parts.shapes.size(), 1 + 4 + 1u);
  EXPECT_EQ(a.parts.shapes[0].name, "world.ground.1");
  Aabb box = Aabb::empty();
  for (std::size_t i = 0; i < 5; ++i) {
    const Aabb one = bounds(a.parts.shapes[i].shape, a.parts.shapes[i].pose);
    box.include(one.low);
    box.include(one.high);
  }
  EXPECT_NEAR(box.low.z, 0.9, 1e-9);
  EXPECT_NEAR(box.high.z, 1.5, 1e-9);
  EXPECT_NEAR(box.high.x, 2, 1e-9);
  // The first row of the text is the far one, at +y.
  const Aabb flat = bounds(a.parts.shapes[0].shape, a.parts.shapes[0].pose);
  EXPECT_NEAR(flat.low.y, -1, 1e-9);
  EXPECT_NEAR(flat.high.y, 0, 1e-9);
  EXPECT_NEAR(flat.high.z, 1, 1e-9);
  expect_problem(mjcf(mujoco("<asset><hfield name='land' nrow='3' ncol='1' size='1 1 1 "
                             "1'/></asset><worldbody/>")),
                 "nrow and ncol must be whole numbers from 2 on");
  expect_problem(mjcf(mujoco("<asset><hfield name='land' nrow='2' ncol='2' size='1 1 1 "
                             "1' elevation='1 2 3'/></asset><worldbody/>")),
                 "elevation");
}

TEST(Mjcf, WhatRefersToCopiesIsCopied) {
  const Answer a = mjcf(mujoco(
      "<worldbody><replicate count='2' offset='0 1 0' sep='-'><replicate count='12' "
      "offset='1 0 0'><body name='b'><joint name='j'/><geom "
      "size='0.1'/></body></replicate>"
      "</replicate><body name='other'><joint name='k'/><geom size='0.1'/></body>"
      "</worldbody><tendon><fixed name='t'><joint joint='j' coef='2'/><joint joint='k' "
      "coef='3'/></fixed></tendon><actuator><motor name='m' tendon='t'/><motor "
      "joint='k'/></actuator>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.bodies.size(), 25u);
  ASSERT_EQ(a.parts.couplings.size(), 24u);
  EXPECT_EQ(a.parts.couplings[3].name, "t01-1");
  EXPECT_EQ(a.parts.couplings[3].terms[0].joint, "j01-1");
  EXPECT_EQ(a.parts.couplings[3].terms[1].joint, "k");
  ASSERT_EQ(a.parts.motors.size(), 25u);
  EXPECT_EQ(a.motor("m11-1").coupling, "t11-1");
  EXPECT_LT(norm(a.joint("j11-1").on_parent.p - Vec3<double>{11, 1, 0}), 1e-15);
}

TEST(Mjcf, AttachedModelsKeepTheirUnitsClassesAndActuators) {
  const Answer a = mjcf(mujoco(
      "<compiler angle='radian'/><default><geom density='1'/><position kp='7'/></default>"
      "<asset><model name='leg' file='limb.xml'/></asset><worldbody><body name='trunk'>"
      "<freejoint/><geom size='0.1'/>"
      "<frame pos='1 0 0'><attach model='leg' body='upper' prefix='l_'/></frame>"
      "<frame pos='-1 0 0'><attach model='leg' body='upper' prefix='r_'/></frame>"
      "</body></worldbody><actuator><position joint='l_hip'/></actuator>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.parts.bodies.size(), 5u);
  EXPECT_LT(norm(a.joint("l_hip").on_parent.p - Vec3<double>{1.1, 0, 0}), 1e-15);
  EXPECT_LT(norm(a.joint("r_hip").on_parent.p - Vec3<double>{-0.9, 0, 0}), 1e-15);
  EXPECT_NEAR(a.joint("l_hip").upper, std::numbers::pi / 2, 1e-15);  // degrees there
  EXPECT_LT(norm(a.joint("l_knee").on_parent.R.x - Vec3<double>{0, 1, 0}), 1e-15);
  // Densities of the model that they are of.
  EXPECT_NEAR(a.body("l_upper").mass, 500 * 0.008, 1e-12);
  EXPECT_NEAR(a.body("trunk").mass, 4e-3 / 3 * std::numbers::pi, 1e-12);
  EXPECT_GT(a.body("r_lower").mass, 0);
  EXPECT_EQ(a.parts.couplings.size(), 2u);
  EXPECT_EQ(a.motor("r_pull").coupling, "r_both");
  EXPECT_EQ(a.motor("r_bend").kp, 20);
  EXPECT_EQ(a.motor("l_hip.motor").kp, 7);
  // The world of the limb stays behind, and so does what refers to it.
  EXPECT_TRUE(std::ranges::none_of(a.parts.shapes, [](const ShapeSpec& s) {
    return kind_of(s.shape) == ShapeKind::plane;
  }));
  const auto attach = [](const std::string& words) {
    return mjcf(
        mujoco("<asset><model name='leg' file='limb.xml'/></asset><worldbody>"
               "<attach " +
               words + "/></worldbody>"));
  };
  EXPECT_TRUE(attach("model='leg' prefix='l_'").fine);  // all of it
  expect_problem(attach("body='upper'"), "attach: it must have model");
  expect_problem(attach("model='leg'"), "attach: it must have prefix");
  expect_problem(attach("model='arm' prefix='l_'"),
                 "\"arm\" must be a model among the assets");
  expect_problem(attach("model='leg' body='foot' prefix='l_'"),
                 "\"foot\" must be a body of the model \"leg\"");
}

/// Some warning has these words.
bool warns(const Answer& a, std::string_view words) {
  return std::ranges::any_of(a.problems.warnings(), [&](const Problem& p) {
    return p.text().find(words) != std::string::npos;
  });
}

Answer with_gantry(const std::string& attach) {
  return mjcf(
      mujoco("<asset><model name='gantry' file='gantry.xml'/></asset>"
             "<worldbody><attach model='gantry' prefix='g_' " +
             attach + "/></worldbody>"));
}

TEST(Mjcf, WhatAttachedModelsHoldToTheWorldStaysHeld) {
  const Answer all = with_gantry("");
  ASSERT_TRUE(all.fine) << all.problems.text();
  ASSERT_EQ(all.parts.loops.size(), 1u);
  EXPECT_EQ(all.parts.loops[0].name, "g_lock");
  EXPECT_FALSE(warns(all, "between what is attached"));
  // Of the cart alone, the exclusion from its rail is left out.
  const Answer cart = with_gantry("body='cart'");
  ASSERT_TRUE(cart.fine) << cart.problems.text();
  EXPECT_EQ(cart.parts.loops.size(), 1u);
  EXPECT_TRUE(warns(cart, "exclude between what is attached and what is not (1)"));
}

TEST(Mjcf, AttachedBodiesKeepTheClassOfTheBodiesTheyAreIn) {
  const Answer cart = with_gantry("body='cart'");
  ASSERT_TRUE(cart.fine) << cart.problems.text();
  EXPECT_NEAR(cart.body("g_cart").mass, 8000 * 0.008, 1e-12);
}

TEST(Mjcf, CompilersOfAttachedModelsAreNamedWhereTheySayOtherwise) {
  const Answer all = with_gantry("");
  EXPECT_TRUE(warns(all, "compiler settotalmass of an attached model (1)"));
  EXPECT_FALSE(warns(all, "boundmass"));
}

TEST(Mjcf, ActivationsOfAllActuatorsCount) {
  const auto with_act = [](const std::string& act) {
    return mjcf(
        mujoco("<worldbody><body><joint name='j'/><geom size='1'/></body><site "
               "name='s'/></worldbody><actuator><muscle joint='j'/><general "
               "site='s' dyntype='user' actdim='2'/><general name='m' joint='j' "
               "dyntype='filter' dynprm='0.1' gainprm='2'/><adhesion body='b'/>"
               "</actuator><keyframe><key act='" +
               act + "' ctrl='0 0 0 0'/></keyframe>"));
  };
  const Answer a = with_act("9 9 9 0.25");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("m").lag.start, 0.5);
  expect_problem(with_act("1 2"), "key: act = 1 2 must be 4 numbers");
  expect_problem(driven("<muscle joint='j'/>", "<key act='1 2'/>"),
                 "key: act = 1 2 must be one number");
  EXPECT_TRUE(warns(driven("<plugin joint='j'/>", "<key act='1 2'/>"),
                    "act of a key beside plugins (1)"));
}

TEST(Mjcf, ActivationsOfAKeyframeHoldWithoutItsControls) {
  const Answer a = driven("<position name='m' joint='j' kp='10' timeconst='0.1'/>",
                          "<key qpos='1.5' act='0.25'/>");
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_EQ(a.motor("m").lag.start, 10 * 0.25 - 10 * 0.5);  // ours is 0 at ref
}

TEST(Mjcf, NamesOfHeightFieldsAndActuatorsMustBeOfTheModel) {
  const auto land = [](const std::string& asset, const std::string& name) {
    return mjcf(mujoco("<asset>" + asset +
                       "</asset><worldbody>\n<geom type='hfield' hfield='" + name +
                       "'/></worldbody>"));
  };
  const std::string asset = "<hfield name='land' nrow='2' ncol='2' size='1 1 1 1'/>";
  EXPECT_TRUE(land(asset, "land").problems.warnings().empty());
  expect_problem(land(asset, "lnad"),
                 ":3: geom: hfield = \"lnad\" must be a height field of the model");
  EXPECT_TRUE(warns(land("<hfield name='land' file='a.png' size='1 1 1 1'/>", "land"),
                    "geom of type hfield (1)"));
  const auto sensor = [](const std::string& of) {
    return mjcf(
        mujoco("<worldbody><body><joint name='j'/><geom size='1'/></body>"
               "</worldbody><actuator><motor name='m' joint='j'/><muscle "
               "name='pull' joint='j'/></actuator><sensor>\n<actuatorfrc "
               "actuator='" +
               of + "'/></sensor>"));
  };
  EXPECT_EQ(sensor("m").parts.sensors.size(), 1u);
  EXPECT_TRUE(warns(sensor("pull"), "actuatorfrc of an actuator that is not read (1)"));
  expect_problem(sensor("typo"),
                 ":3: actuatorfrc: actuator = \"typo\" must be an actuator of the model");
}

TEST(Mjcf, CompilerBoundsAndScalesMasses) {
  const Answer a = mjcf(mujoco(
      "<compiler settotalmass='10' balanceinertia='true' boundmass='1'/><worldbody>"
      "<body name='a'><freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 4'/>"
      "</body><body name='b'><freejoint/><inertial pos='0 0 0' mass='0.1' diaginertia='1 "
      "1 1'/></body></worldbody>"));
  ASSERT_TRUE(a.fine) << a.problems.text();
  EXPECT_NEAR(a.body("a").mass, 7.5, 1e-14);
  EXPECT_NEAR(a.body("a").inertia.zz, 2 * 2.5, 1e-14);
  EXPECT_NEAR(a.body("b").mass, 2.5, 1e-14);
}

TEST(Urdf, MimicJointsAreCoupledAndOddInertiasWarned) {
  const Answer a = urdf(
      robot(box_link("a") + box_link("b") +
            "<link name='c'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3' "
            "ixy='0' "
            "ixz='0' iyz='0'/></inertial></link>" +
            joint("j", "a", "b") +
            joint("k", "a", "c", "<mimic joint='j' multiplier='-2' offset='0.3'/>")));
  ASSERT_TRUE(a.fine) << a.problems.text();
  ASSERT_EQ(a.parts.couplings.size(), 1u);
  EXPECT_EQ(a.parts.couplings[0].terms[1].weight, 2);
  EXPECT_EQ(a.parts.couplings[0].rest, 0.3);
  EXPECT_NEAR(a.body("c").inertia.zz, 4, 1e-12);
  EXPECT_NEAR(a.body("c").inertia.xx, 2, 1e-12);
  EXPECT_NE(a.problems.warnings()[0].message.find("all three are raised by 1 kg m^2"),
            std::string::npos)
      << a.problems.warnings()[0].message;
  const Answer light = urdf(robot(box_link("a", "0")));
  EXPECT_TRUE(light.fine) << light.problems.text();
  EXPECT_EQ(trace(light.body("a").inertia), 0);
  expect_problem(urdf(robot(box_link("a") + box_link("b") +
                            joint("j", "a", "b", "<mimic joint='none'/>"))),
                 "mimic: joint = \"none\" must be another joint of the file");
}

TEST(Mjcf, AllProblemsAtOnceWithTheirLines) {
  const Answer a = mjcf(R"(<mujoco>
<compiler angle="grad" eulerseq="xyw" coordinate="global"/>
<default><default><geom/></default></default>
<asset><mesh name="m"/><mesh file="none.obj"/></asset>
<worldbody>
<body name="a" quat="0 0 0 0"><joint name="j" type="screw" axis="0 0 0"/><geom size="-1"/></body>
<body name="a" euler="0 0 0" quat="1 0 0 0"><joint name="j" damping="-1" class="none"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/></body>
<body name="b"><joint range="1 0"/><geom type="box" size="1 1"/><geom type="mesh" mesh="no"/><geom type="mesh" mesh="none"/>
  <body><freejoint/><geom type="cone"/></body></body>
<body name="light"><joint limited="true"/></body>
<body name="lines"><geom type="capsule" fromto="0 0 0 0 0 0" size="1"/><composite/></body>
</worldbody>
<contact><exclude body1="a" body2="ghost"/></contact>
<actuator><motor joint="ghost"/></actuator>
<keyframe><key qpos="1"/></keyframe>
</mujoco>)");
  for (const char* words : {
           ":2: compiler: angle = grad must be degree or radian",
           ":2: compiler: eulerseq = xyw must be three of x, y, z, X, Y, Z",
           ":2: compiler: coordinate = global must be local",
           ":3: default: it must have a class",
           ":4: mesh \"m\": it must have a file or vertex",
           ":4: mesh \"none\": there is no mesh file ",
           ":6: body \"a\": quat = 0 0 0 0 must have a length",
           ":6: joint \"j\": type = screw must be hinge, slide, ball or free",
           ":6: joint \"j\": axis = 0 0 0 must have a length",
           ":6: geom: size = -1 must be above 0",
           ":7: body \"a\": another body must not have this name",
           ":7: body \"a\": euler = 0 0 0 must not be given together with quat",
           ":7: joint \"j\": another joint must not have this name",
           ":7: joint \"j\": damping = -1 must not be below 0",
           ":7: joint \"j\": class = \"none\" must be a default class",
           ":8: body \"a2\": inertial: diaginertia = 1 1 9 must have no principal moment",
           ":9: joint \"b\": range = 1 0 must not fall",
           ":9: geom: size = 1 1 must be 3 numbers",
           ":9: geom: mesh = \"no\" must be a mesh of the model's assets",
           ":10: freejoint \"body\": a free joint must be the only one",
           ":10: geom: type = cone must be sphere, plane, ",
           ":11: body \"light\": mass = 0 must be above 0 on a body that moves",
           ":11: joint \"light\": limited = true must come with range",
           ":12: geom: fromto = 0 0 0 0 0 0 must be two different points",
           ":12: composite: it must be written out as bodies",
           ":14: exclude: body2 = \"ghost\" must be a body of the model",
           ":15: motor \"ghost\": joint = \"ghost\" must be a joint of the model",
           ":16: key: qpos = 1 must be 11 numbers",
       }) {
    expect_problem(a, words);
  }
}

TEST(Mjcf, IncludesEachFileOnce) {
  expect_problem(mjcf(mujoco("<include file='none.xml'/>")),
                 "robot.xml:2: include: cannot read ");
  expect_problem(mjcf(mujoco("<include file='robot.xml'/>")),
                 "file = robot.xml must be included once only");
  expect_problem(mjcf(mujoco("<include/>")), "include: it must have file");
  expect_problem(mjcf(mujoco("<include file='meshes'/>")), "is not a regular file");
  expect_problem(mjcf(mujoco("<include file='loop.xml'/>")),
                 "loop.xml:2: include: file = loop.xml must be included once only");
}

// Inputs out of all proportion.

TEST(RobotFiles, AbsurdInputsAreRefusedQuickly) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<body>";
  expect_problem(mjcf(world(deep)), "nested deeper than");
  expect_problem(urdf(deep), "nested deeper than");
  std::string wide = "<robot>";
  for (int i = 0; i < 250'000; ++i) wide += "<link/>";
  wide += "</robot>";
  expect_problem(urdf(wide), "more than 200000 elements");
  std::string attributes = "<robot ";
  for (int i = 0; i < 50'000; ++i) {
    attributes += 'a';
    attributes += std::to_string(i);
    attributes += "='' ";
  }
  expect_problem(urdf(attributes + "/>"), "at most 200 attributes");
}

TEST(RobotFiles, ManyBodiesTakeLittleTime) {
  std::string bodies;
  for (int i = 0; i < 6'000; ++i) {
    bodies += "<body><joint/><joint axis='1 0 0'/><geom size='1'/></body>";
  }
  const Answer a = mjcf(world(bodies));
  EXPECT_FALSE(a.fine);  // pairs are kept apart among fewer geoms only
  std::string links = "<link name='world'/>";
  for (int i = 0; i < 3'000; ++i) {
    std::string name("l");
    name += std::to_string(i);
    links += box_link(name) + joint("j" + name, "world", name);
  }
  const Answer b = urdf(robot(links));
  EXPECT_TRUE(b.fine) << b.problems.text();
}

}  // namespace
}  // namespace bristle::scene
