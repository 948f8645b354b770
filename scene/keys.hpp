#pragma once

#include <array>
#include <cstddef>

#include "bristle/model/joint.hpp"
#include "scene/section.hpp"

// Everything that may stand in a scene.

namespace bristle::scene {

inline constexpr Range any_number{-largest_number, largest_number};
inline constexpr Range positive{0, largest_number, true};
inline constexpr Range not_negative{0, largest_number};
inline constexpr Range size_range{smallest_size, largest_size};
inline constexpr Range time_range{0, longest_time, true};

// Where something is in what holds it.
#define BRISTLE_POSE_KEYS                                                                \
  {                                                                                      \
      "position", Kind::numbers, Dimension::length, "position: x, y, z", any_number, "", \
      3},                                                                                \
      {"rotation",                                                                       \
       Kind::numbers,                                                                    \
       Dimension::angle,                                                                 \
       "angles about x, then y, then z of the frame around it",                          \
       any_number,                                                                       \
       "",                                                                               \
       3},                                                                               \
      {"quaternion",                                                                     \
       Kind::numbers,                                                                    \
       Dimension::none,                                                                  \
       "orientation: w, x, y, z",                                                        \
       any_number,                                                                       \
       "",                                                                               \
       4}

inline constexpr Key shape_keys[] = {
    {"type", Kind::text, Dimension::none, "kind of the shape", any_number,
     "sphere|plane|box|cylinder|capsule|ellipsoid|cavity|mesh|hull", 0, true},
    {"name", Kind::text, Dimension::none, "unique name; that of the body when left out"},
    {"radius", Kind::number, Dimension::length,
     "radius of a sphere (0: a point), cylinder, capsule or cavity",
     Range{0, largest_size}},
    {"length", Kind::number, Dimension::length,
     "length of a cylinder or cavity; of a capsule, between the centres of its ends",
     size_range},
    {"size", Kind::numbers, Dimension::length, "lengths of the edges of a box",
     size_range, "", 3},
    {"semi_axes", Kind::numbers, Dimension::length, "semi-axes of an ellipsoid",
     size_range, "", 3},
    {"file", Kind::text, Dimension::none, "file of a mesh or hull: STL, OBJ, PLY, DAE"},
    {"scale", Kind::number, Dimension::none, "factor on the lengths in the file",
     positive},
    {"surface", Kind::text, Dimension::none,
     "name of the surface, for rules in [[contacts]]"},
    {"material", Kind::text, Dimension::none,
     "name from [materials] or `bristle material list`"},
    BRISTLE_POSE_KEYS};

inline constexpr Key body_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"fixed", Kind::flag, Dimension::none,
     "whether the body is part of the world; else a body without a joint has six "
     "degrees of freedom"},
    {"mass", Kind::number, Dimension::mass,
     "mass; from the density of its shapes when left out", positive},
    {"density", Kind::number, Dimension::density, "density of its shapes", positive},
    {"material", Kind::text, Dimension::none, "material of its shapes"},
    {"centre_of_mass", Kind::numbers, Dimension::length, "in the frame of the body",
     any_number, "", 3},
    {"inertia", Kind::numbers, Dimension::inertia,
     "moments about the centre of mass: xx, yy, zz, or these and xy, xz, yz"},
    {"velocity", Kind::numbers, Dimension::speed, "velocity of its origin at the start",
     any_number, "", 3},
    {"angular_velocity", Kind::numbers, Dimension::angular_speed,
     "angular velocity at the start", any_number, "", 3},
    {"shapes", Kind::sections, Dimension::none, "[[bodies.shapes]]", any_number, "", 0,
     false, shape_keys},
    BRISTLE_POSE_KEYS};

inline constexpr int joint_type_count = static_cast<int>(JointType::free) + 1;

/// The names of all joint types, as a list of choices that ends with a zero.
inline constexpr auto joint_type_names = [] {
  std::array<char, 256> text{};
  std::size_t end = 0;
  for (int i = 0; i < joint_type_count; ++i) {
    if (i > 0) text[end++] = '|';
    for (const char c : joint_type_name(static_cast<JointType>(i))) text[end++] = c;
  }
  return text;
}();

inline constexpr Key joint_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"type", Kind::text, Dimension::none, "type of the joint", any_number,
     joint_type_names.data(), 0, true},
    {"parent", Kind::text, Dimension::none, "a body; the world when left out"},
    {"child", Kind::text, Dimension::none, "the body that it moves", any_number, "", 0,
     true},
    BRISTLE_POSE_KEYS,
    {"child_position", Kind::numbers, Dimension::length,
     "frame of the joint in the child", any_number, "", 3},
    {"child_rotation", Kind::numbers, Dimension::angle, "frame of the joint in the child",
     any_number, "", 3},
    {"axis", Kind::numbers, Dimension::none, "axis of a revolute or prismatic joint",
     any_number, "", 3},
    {"start", Kind::number, Dimension::joint_position,
     "position of a revolute or prismatic joint at the start"},
    {"start_rate", Kind::number, Dimension::joint_speed, "rate of that position"},
    {"start_angles", Kind::numbers, Dimension::angle,
     "angles at the start: of a universal joint about x, then the new y; of a planar "
     "joint about z"},
    {"start_angle_rates", Kind::numbers, Dimension::angular_speed,
     "rates of those angles"},
    {"start_position", Kind::numbers, Dimension::length,
     "x and y of a planar joint at the start", any_number, "", 2},
    {"start_velocity", Kind::numbers, Dimension::speed, "rates of x and y", any_number,
     "", 2},
    {"start_rotation", Kind::numbers, Dimension::angle,
     "angles of a spherical joint at the start: about x, then y, then z", any_number, "",
     3},
    {"start_quaternion", Kind::numbers, Dimension::none,
     "the same rotation as a quaternion w, x, y, z", any_number, "", 4},
    {"start_angular_velocity", Kind::numbers, Dimension::angular_speed,
     "angular velocity of a spherical joint at the start, in the axes of the parent's "
     "side",
     any_number, "", 3},
    {"lower", Kind::number, Dimension::joint_position, "lower limit of the position"},
    {"upper", Kind::number, Dimension::joint_position, "upper limit of the position"},
    {"damping", Kind::number, Dimension::joint_damping, "viscous damping", not_negative},
    {"stiffness", Kind::number, Dimension::joint_stiffness, "stiffness of a spring",
     not_negative},
    {"rest", Kind::number, Dimension::joint_position,
     "position at which the spring exerts no force"},
    {"friction", Kind::number, Dimension::joint_force, "dry friction", not_negative},
    {"armature", Kind::number, Dimension::joint_inertia,
     "reflected inertia of a geared rotor", not_negative},
    {"effort_limit", Kind::number, Dimension::joint_force,
     "largest force or torque of its motors", positive}};

inline constexpr Key loop_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"type", Kind::text, Dimension::none, "kind of the connection", any_number,
     "point|hinge|weld|distance", 0, true},
    {"a", Kind::text, Dimension::none, "a body; the world when left out"},
    {"b", Kind::text, Dimension::none, "the other body", any_number, "", 0, true},
    {"a_position", Kind::numbers, Dimension::length, "frame of the loop in a", any_number,
     "", 3},
    {"a_rotation", Kind::numbers, Dimension::angle, "frame of the loop in a", any_number,
     "", 3},
    {"b_position", Kind::numbers, Dimension::length, "frame of the loop in b", any_number,
     "", 3},
    {"b_rotation", Kind::numbers, Dimension::angle, "frame of the loop in b", any_number,
     "", 3},
    {"axis", Kind::numbers, Dimension::none, "axis of a hinge; z when left out",
     any_number, "", 3},
    {"length", Kind::number, Dimension::length, "length of a distance", positive},
    {"stiffness", Kind::number, Dimension::stiffness,
     "stiffness of the loop; rigid when left out", positive},
    {"damping", Kind::number, Dimension::damping, "damping of a loop with stiffness",
     not_negative},
    {"rotational_stiffness", Kind::number, Dimension::turn_stiffness,
     "rotational stiffness of a hinge or weld", positive},
    {"rotational_damping", Kind::number, Dimension::turn_damping,
     "rotational damping of a hinge or weld", not_negative}};

inline constexpr Key constraint_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"type", Kind::text, Dimension::none,
     "skate: no slip along a direction of b; rolling: no slip on a plane of a; velocity: "
     "none along a direction of a",
     any_number, "skate|rolling|velocity", 0, true},
    {"a", Kind::text, Dimension::none, "a body; the world when left out"},
    {"b", Kind::text, Dimension::none, "the body that moves", any_number, "", 0, true},
    {"point", Kind::numbers, Dimension::length, "point of b; its origin when left out",
     any_number, "", 3},
    {"direction", Kind::numbers, Dimension::none,
     "direction that is blocked, for skate (in b; y when left out) and velocity (in a)",
     any_number, "", 3},
    {"normal", Kind::numbers, Dimension::none,
     "normal of the plane in a, for rolling; z when left out", any_number, "", 3},
    {"radius", Kind::number, Dimension::length,
     "radius of the ball or wheel around the point, for rolling", positive},
    {"damping", Kind::number, Dimension::damping,
     "viscous resistance along the direction; rigid when left out", positive}};

inline constexpr Key contact_keys[] = {
    {"a", Kind::text, Dimension::none, "a shape, body or surface; \"*\": all"},
    {"b", Kind::text, Dimension::none, "a shape, body or surface; \"*\": all"},
    {"group", Kind::texts, Dimension::none,
     "names of which all pairs are meant (at most 200), instead of a and b"},
    {"touches", Kind::flag, Dimension::none, "false: this pair never touches"},
    {"normal", Kind::any, Dimension::none,
     "a law's name, a table: law and its parameters, or \"rigid\""},
    {"friction", Kind::any, Dimension::none,
     "a coefficient, a law's name, or a table: law and its parameters"},
    {"restitution", Kind::number, Dimension::none,
     "coefficient of restitution; at least 0.001 unless normal = \"rigid\"", Range{0, 1}},
    {"impact_speed", Kind::number, Dimension::speed,
     "speed at which restitution holds, for laws in which it depends on the speed",
     positive},
    {"stiffness", Kind::number, Dimension::none,
     "k of f = k δ^p, in the unit of the normal law; N/m^1.5 for most", positive},
    {"materials", Kind::texts, Dimension::none, "two materials, instead of stiffness"},
    {"radius", Kind::number, Dimension::length,
     "radius of curvature, with materials; R* of the pair when left out", positive},
    {"spin", Kind::text, Dimension::none,
     "how friction of a volumetric contact resists spinning", any_number,
     "none|elliptic|uniform|paraboloid|hertz"},
    {"share_a", Kind::number, Dimension::none, "fraction of the penetration taken by a",
     Range{0, 1}}};

inline constexpr Key material_keys[] = {
    {"youngs_modulus", Kind::number, Dimension::pressure, "E", positive, "", 0, true},
    {"poissons_ratio", Kind::number, Dimension::none, "ν", Range{-0.99, 0.5}, "", 0,
     true},
    {"density", Kind::number, Dimension::density, "ρ", positive, "", 0, true}};

inline constexpr Key gravity_keys[] = {{"vector", Kind::numbers, Dimension::acceleration,
                                        "gravity; 0, 0, −9.81 when left out", any_number,
                                        "", 3}};

/// Of the clock: those of every stepper and method that there is now.
std::vector<Key> clock_keys();

inline constexpr Key record_keys[] = {
    {"every", Kind::text, Dimension::none,
     "when samples are taken: \"1 ms\", \"step\" or \"event\""},
    {"steps", Kind::flag, Dimension::none,
     "where every is a time: also after each step of the adaptive integrator"},
    {"checkpoint", Kind::number, Dimension::time, "simulated time between checkpoints",
     Range{0, longest_time}}};

inline constexpr Key motor_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"joint", Kind::text, Dimension::none, "joint that the motor drives"},
    {"joints", Kind::texts, Dimension::none,
     "instead of joint: one motor for each of these joints, called NAME.JOINT; * stands "
     "for any text"},
    {"kind", Kind::text, Dimension::none, "kind of motor; torque when left out",
     any_number, "torque|position|prescribed"},
    {"axis", Kind::whole, Dimension::none, "index of the joint's degree of freedom",
     Range{0, 5}},
    {"kp", Kind::number, Dimension::joint_stiffness, "stiffness of a position motor",
     not_negative},
    {"kd", Kind::number, Dimension::joint_damping, "damping of a position motor",
     not_negative},
    {"bandwidth", Kind::number, Dimension::frequency,
     "instead of kp: natural frequency of the load of the joint on the motor alone",
     positive},
    {"damping_ratio", Kind::number, Dimension::none,
     "instead of kd: damping over critical damping; 1 when left out with bandwidth",
     not_negative},
    {"gravity_compensation", Kind::flag, Dimension::none,
     "whether a position motor also holds the weight that the joint carries"},
    {"torque", Kind::number, Dimension::joint_force, "torque of a torque motor"},
    {"offset", Kind::number, Dimension::joint_position, "target at time 0"},
    {"slope", Kind::number, Dimension::joint_speed, "rate at which the target rises"},
    {"amplitude", Kind::number, Dimension::joint_position,
     "amplitude of the sine in the target"},
    {"frequency", Kind::number, Dimension::frequency, "frequency of that sine",
     not_negative},
    {"phase", Kind::number, Dimension::angle, "phase of that sine"},
    {"keyframe", Kind::text, Dimension::none,
     "keyframe of the robot's MJCF file whose joint position is the target"},
    {"times", Kind::numbers, Dimension::time, "times of a table: two or more, rising",
     Range{0, longest_time}},
    {"positions", Kind::numbers, Dimension::joint_position,
     "positions at these times, for position and prescribed motors"},
    {"torques", Kind::numbers, Dimension::joint_force,
     "torques at these times, for torque motors"},
    {"keyframes", Kind::texts, Dimension::none,
     "keyframes at these times, instead of positions"},
    {"file", Kind::text, Dimension::none,
     "the table as CSV: time_s, and a column JOINT_rad, JOINT_deg, JOINT_m, …"},
    {"column", Kind::text, Dimension::none,
     "column of the file, without its unit; the joint's name when left out"},
    {"interpolation", Kind::text, Dimension::none,
     "interpolation between the times; linear when left out", any_number,
     "hold|linear|spline"},
    {"repeat", Kind::flag, Dimension::none,
     "whether the table begins anew after its last time; else its last value stays"}};

inline constexpr Key load_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"body", Kind::text, Dimension::none, "body that it acts on", any_number, "", 0,
     true},
    {"force", Kind::numbers, Dimension::force, "force in world axes", any_number, "", 3},
    {"torque", Kind::numbers, Dimension::torque, "torque in world axes", any_number, "",
     3},
    {"point", Kind::numbers, Dimension::length, "point of the body where the force acts",
     any_number, "", 3}};

inline constexpr Key probe_keys[] = {
    {"name", Kind::text, Dimension::none, "unique name", any_number, "", 0, true},
    {"kind", Kind::text, Dimension::none, "what is measured", any_number,
     "contact_force|contact_depth|contact_torque|contact_volume|point|velocity|joint|"
     "joint_rate|ledger|energy|joint_torque|orientation|angular_velocity|acceleration|"
     "angular_acceleration|accelerometer|gyro|velocimeter|force|torque|touch|range",
     0, true},
    {"a", Kind::text, Dimension::none, "body, for kinds contact_…; any when left out"},
    {"b", Kind::text, Dimension::none,
     "the other body, for kinds contact_…; any when left out"},
    {"body", Kind::text, Dimension::none,
     "body, for kinds point and velocity and for sensors"},
    {"point", Kind::numbers, Dimension::length, "point in the frame of the body",
     any_number, "", 3},
    {"site", Kind::text, Dimension::none,
     "site of a robot's MJCF file where the sensor sits, instead of body and position"},
    {"joint", Kind::text, Dimension::none,
     "joint, for kinds joint, joint_rate and joint_torque, and for force and torque "
     "instead of body"},
    {"component", Kind::text, Dimension::none,
     "component of a vector; when left out, a sensor has one probe for each: NAME.x, …",
     any_number, "x|y|z|norm|normal|friction|w"},
    {"radius", Kind::number, Dimension::length,
     "radius of the ball in which touch counts contacts; all contacts of the body when "
     "left out",
     size_range},
    {"size", Kind::numbers, Dimension::length,
     "edges of the box in which touch counts contacts, instead of radius", size_range, "",
     3},
    {"reach", Kind::number, Dimension::length,
     "largest distance of range; unlimited when left out", size_range},
    {"line", Kind::text, Dimension::none, "line of the ledger", any_number,
     "kinetic|gravity|stored|dissipated|supplied|unsupplied|residual"},
    BRISTLE_POSE_KEYS};

inline constexpr Key robot_keys[] = {
    {"file", Kind::text, Dimension::none, "URDF or MJCF file", any_number, "", 0, true},
    {"base", Kind::text, Dimension::none,
     "whether its root is fixed in the world or moves freely", any_number, "fixed|free"},
    {"surface", Kind::text, Dimension::none,
     "surface of all its shapes, for rules in [[contacts]]"},
    {"meshes", Kind::text, Dimension::none,
     "meshes as convex hulls (when left out) or triangles", any_number, "hull|mesh"},
    {"packages", Kind::texts, Dimension::none,
     "folders in which package:// addresses are looked for"},
    {"key", Kind::text, Dimension::none,
     "keyframe of an MJCF file that it starts from; the first when left out"},
    {"control", Kind::text, Dimension::none,
     "file (when left out): the file's actuators; hold: as well, position motors hold "
     "all other joints at the start",
     any_number, "file|hold"},
    {"self_collision", Kind::flag, Dimension::none,
     "whether its bodies may touch each other; true when left out"},
    {"start", Kind::section, Dimension::none,
     "positions of joints at the start, JOINT = rad or m; a list for several"},
    BRISTLE_POSE_KEYS};

/// Of the scene itself, but for [clock].
inline constexpr Key fixed_scene_keys[] = {
    {"title", Kind::text, Dimension::none, "title in a few words"},
    {"about", Kind::text, Dimension::none, "description: what to look for"},
    {"include", Kind::any, Dimension::none, "files that are read before this one"},
    {"allow_initial_overlap", Kind::flag, Dimension::none,
     "whether shapes may overlap at the start by more than their rest depth"},
    {"gravity", Kind::section, Dimension::none, "table [gravity]", any_number, "", 0,
     false, gravity_keys},
    {"record", Kind::section, Dimension::none, "table [record]", any_number, "", 0, false,
     record_keys},
    {"materials", Kind::section, Dimension::none, "tables [materials.NAME]"},
    {"bodies", Kind::sections, Dimension::none, "tables [[bodies]]", any_number, "", 0,
     false, body_keys},
    {"joints", Kind::sections, Dimension::none, "tables [[joints]]", any_number, "", 0,
     false, joint_keys},
    {"loops", Kind::sections, Dimension::none,
     "tables [[loops]]: closures of kinematic loops", any_number, "", 0, false,
     loop_keys},
    {"constraints", Kind::sections, Dimension::none,
     "tables [[constraints]] of velocities", any_number, "", 0, false, constraint_keys},
    {"contacts", Kind::sections, Dimension::none, "tables [[contacts]]: rules for pairs",
     any_number, "", 0, false, contact_keys},
    {"motors", Kind::sections, Dimension::none, "tables [[motors]]", any_number, "", 0,
     false, motor_keys},
    {"loads", Kind::sections, Dimension::none, "tables [[loads]]: constant forces",
     any_number, "", 0, false, load_keys},
    {"probes", Kind::sections, Dimension::none, "tables [[probes]]: measured quantities",
     any_number, "", 0, false, probe_keys},
    {"robots", Kind::sections, Dimension::none, "tables [[robots]]: URDF or MJCF files",
     any_number, "", 0, false, robot_keys}};

/// All of it: `clock` lists what may stand in [clock], and must outlive the result.
std::vector<Key> scene_keys(std::span<const Key> clock);

#undef BRISTLE_POSE_KEYS

}  // namespace bristle::scene
