#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bristle/model/checks.hpp"
#include "scene/mesh_file.hpp"
#include "scene/mjcf.hpp"
#include "scene/mjcf_vocabulary.hpp"
#include "scene/naming.hpp"
#include "scene/softness.hpp"
#include "scene/solid.hpp"
#include "scene/xml.hpp"

// One reading of an MJCF file, from its sections in order to Parts. What it does of each
// kind of element stands in a file of its own: mjcf_bodies.cpp, mjcf_actuators.cpp, ….

namespace bristle::scene::mjcf {

using xml::Attribute;
using xml::called;
using xml::Consequence;
using xml::Element;
using xml::Range;
using xml::shown;
using xml::words;

constexpr int main_class = 0;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double default_timestep = 0.002;  // of MuJoCo [s]
constexpr std::size_t max_files = 100;
constexpr const char* attached_defaults = "attached defaults";  // a section of our own
constexpr std::size_t max_rules = 5000;     // of pairs that never touch
constexpr std::size_t max_geoms = 5000;     // among which such pairs are looked for
constexpr std::size_t max_copies = 20'000;  // made by one replicate

/// What a model's compiler says of all its elements.
struct CompilerSettings {
  bool degrees = true;
  bool auto_limits = true;
  std::string euler = "xyz";
  std::string folder{};       // of the model
  std::string mesh_folder{};  // in that
};

/// A class of defaults: what it says, and the class that it refines.
struct DefaultClass {
  std::string name;
  int parent;
  std::map<std::string, std::vector<const Element*>, std::less<>> elements{};
};

/// An element with the defaults that fill it in.
struct View {
  const Element* element;
  int defaults;
  std::string who;
};

/// Names of elements by tag.
using NamesByKind =
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

/// A child of an element, those within frames included: the frame's pose and class.
struct Placed {
  const Element* element;
  Transform<double> frame;
  int defaults;
};

/// A mesh is read when the first geom needs it: those that are only seen need not be
/// there.
struct MeshAsset {
  std::string name;
  View view;
  std::string folder;
  bool is_read = false;
  Triangles triangles{};  // in the axes of the file, scaled; empty where it is wrong
  Solid solid{};          // that they weigh at density 1
};

/// Heights between 0 and 1 over a rectangle, row by row from −y on.
struct HfieldAsset {
  double size[4] = {};  // half lengths along x and y, height, depth of the base [m]
  int rows = 0, columns = 0;
  std::vector<double> heights{};
};

/// What later sections need to know of a joint.
struct JointRecord {
  std::string name;
  JointType type;
  double ref;
  std::size_t spec;       // in the joints of the parts
  std::vector<double> q;  // at the start, where it is not neutral
};

/// What MuJoCo takes of a geom where it touches another one.
struct TouchRecord {
  double friction = 1;
  int condim = 3;
  int priority = 0;
  Softness softness{};

  auto operator<=>(const TouchRecord&) const = default;
};

struct GeomRecord {
  std::string name;   // in the file
  std::string shape;  // ours
  int body;
  std::uint32_t contype, conaffinity;
  TouchRecord touch;
};

struct SiteRecord {
  int body;
  Transform<double> pose;       // in the body
  std::optional<Shape> zone{};  // its own volume
};

/// A sphere or cylinder that tendons go around.
struct WrapRecord {
  int body;
  Transform<double> pose;  // in the body
  PathPart part;
  double radius;
};

struct BodyRecord {
  std::string name;
  int group;           // the first of the bodies that are welded together; 0: the world
  int parent;          // group that this one's group hangs from
  bool direct = true;  // by one joint, so that the engine sees that they are neighbours
  Transform<double> pose{};  // in our world, every joint at its reference
  std::vector<int> geoms{};
};

/// A tendon of the file.
struct TendonRecord {
  std::size_t spec;  // in the couplings of the parts
  double ref;        // of a fixed one: its length where our joints are at 0
};

/// An actuator: f = gain(l, l̇) u + bias(l, l̇), each a constant and two slopes.
struct ActuatorRecord {
  int index;         // among the file's actuators
  std::size_t spec;  // in the motors of the parts
  double gear;
  double ref;  // the length l is gear (ours + ref)
  double gain[3] = {1, 0, 0};
  double bias[3] = {0, 0, 0};
  double control_range[2] = {-infinity, infinity};
  bool has_length = true;  // a wrench has none
  int activation = -1;     // among the file's activations; −1: it acts at once
};

std::string kind_of(JointType type);

class Reading {
 public:
  Reading(const std::string& path, const RobotOptions& options, const Parts& before,
          Geometry& geometry, Problems& problems);

  void read(std::string_view text);

  Parts parts;

 private:
  void error(const FileLine& at, std::initializer_list<std::string_view> parts_of_it) {
    problems_.error(at, words(parts_of_it));
  }

  template <class Function>
  static void each(const Element& e, std::string_view tag, Function function) {
    for (const Element& c : e.children) {
      if (c.tag == tag) function(c);
    }
  }

  // The document: mjcf.cpp.

  /// Puts the children of included files where they are included. A file is included
  /// once, so that none includes itself.
  void expand(Element& e, int depth, const std::string& path);
  /// Counts what the rest of the reader passes over.
  void take_stock(const Element& e);
  void read_sections(const Element& root);
  void read_compiler(const Element& e);
  /// What holds for the elements of one model only.
  void read_compiler(const Element& e, CompilerSettings& to);
  void read_option(const Element& e);
  void finish();

  // Models in models, and copies: mjcf_attach.cpp.

  void read_settings(const Element& root, const std::string& path);
  const CompilerSettings& settings(const View& v) const;
  /// Writes out what a model attaches and replicates.
  void assemble(Element& root, const std::string& path, int depth);
  void write_out(Element& e, Element& root, int depth);
  void replicate(const Element& e, Element& root, std::vector<Element>& to);
  void copy_references(Element& section, const std::vector<std::string>& suffixes,
                       NamesByKind& names);
  const Element* model_named(const Element& e, const Element& root, int depth);
  void compare_settings(const Element& attached);
  const Element* load_model(const Element& m, int depth);
  void attach(const Element& e, Element& root, int depth, std::vector<Element>& to);
  void attach_defaults(const Element& model, const std::string& prefix, Element& to);
  void attach_section(const Element& section, const std::string& prefix,
                      NamesByKind& names, Element& to);

  // Attributes and the defaults behind them: mjcf_defaults.cpp.

  const Attribute* get(const View& view, std::string_view name) const;
  std::string_view word(const View& view, std::string_view name,
                        std::string_view otherwise) const;
  double number(const View& view, std::string_view name, double otherwise, Range range);
  Vec3<double> vector(const View& view, std::string_view name,
                      const Vec3<double>& otherwise);
  std::optional<std::vector<double>> numbers(const View& view, std::string_view name,
                                             std::size_t least, std::size_t most,
                                             Range range = Range::any);
  /// One of some words; the first where it is not given or wrong.
  std::string choice(const Attribute* given, const std::string& who,
                     std::initializer_list<std::string_view> allowed);
  View view(const Element& e, int inherited, std::string_view name);
  int class_named(const Attribute& given, const std::string& who);
  void read_defaults(const Element& e, int parent);
  void read_attached_defaults(const Element& e);
  void fill_class(const Element& e, int index);
  /// The element and the defaults behind it, the most general first.
  std::vector<const Element*> layers(const View& view) const;
  bool is_limited(const View& v, const char* limited, const char* range);
  Softness softness(const View& v, const char* solref, const char* solimp);

  // Poses: mjcf_pose.cpp.

  double radians(const View& v, double angle) const;
  /// The orientation that an element states in one of five ways.
  Mat3<double> orientation(const View& v);
  Transform<double> pose(const View& v);
  /// The children of an element, with those of its frames and copies.
  std::vector<Placed> children_of(const Element& e, int defaults);
  void add_children(const Element& e, const Transform<double>& frame, int defaults,
                    std::vector<Placed>& to);

  // Meshes: mjcf_meshes.cpp.

  void read_mesh(const Element& e);
  void read_triangles(MeshAsset& asset);
  void read_vertices(const View& v, Triangles& to);
  /// Points alone stand for their convex hull.
  static bool add_hull_faces(Triangles& points);

  // Bodies: mjcf_bodies.cpp.

  /// What is named in the file keeps its name, whatever comes before it.
  void reserve_names(const Element& e);
  void read_world(const Element& e);
  void read_body(const Placed& at, int parent);
  Solid read_inertial(const Element& e, const std::string& body);
  Solid bounded(Solid mass, bool moves) const;
  /// Hangs a body from its parent: by a fixed joint, by its joint, or by a chain of them
  /// with bodies without mass between. All joints of a body are stated in its own axes,
  /// and each moves those after it.
  void hang(const std::string& name, const std::string& parent,
            const std::vector<Placed>& joints, const Transform<double>& at);
  void read_joint(const View& v, JointSpec& joint, const Transform<double>& at,
                  const Transform<double>& frame);
  void read_free_joint(const View& v, JointSpec& joint, const Transform<double>& at);
  void read_hinge_or_slide(const View& v, bool hinge, const Mat3<double>& turned,
                           JointSpec& joint, JointRecord& record);
  void read_site(const Placed& at, int body, const Transform<double>& base);
  void scale_masses();

  // Geoms: mjcf_geoms.cpp.

  std::uint32_t bits(const View& v, const char* name);
  /// A geom as a shape in its own axes, with its mass at density 1.
  struct Form {
    std::optional<Shape> shape{};
    Transform<double> pose{};
    Solid solid{};
  };
  void widen(const View& v, Shape& shape);
  /// Adds the geom's shape, and its mass to the total where there is one.
  void read_geom(const Placed& at, int body, const Transform<double>& base, Solid* total);
  std::optional<Form> read_form(const View& v, int body, bool touches, bool weighs);
  /// Its half lengths, from size and fromto.
  std::optional<Vec3<double>> read_size(const View& v, const std::string& type,
                                        Form& form);
  std::optional<Form> read_mesh_form(const View& v, Form form, bool touches, bool weighs);
  /// The mesh that a geom names, read; nullptr, and the problem, where there is none.
  MeshAsset* mesh_named(const Attribute& name, const View& v);
  /// The sizes of a shape that takes the place of a mesh.
  std::optional<Vec3<double>> fit(const Attribute& name, const View& v,
                                  const std::string& type, Form& form);

  // Height fields: mjcf_hfields.cpp.

  void read_hfield(const Element& e);
  bool read_elevation(const View& v, HfieldAsset& asset);
  bool read_hfield_file(const Attribute& file, const View& v, HfieldAsset& asset);
  void read_hfield_geom(const Placed& at, const View& v, int body,
                        const Transform<double>& base, const GeomRecord& like);

  // What is only seen: mjcf_visuals.cpp.

  void read_material(const Element& e);
  std::optional<Colour> colour_of(const View& v);
  /// Its own, or else that of its material.
  std::optional<Colour> colour_of_geom(const View& v);
  /// How a geom that touches is seen: its shape has that name.
  void see_shape(const View& v, int body, const std::string& shape);
  /// Adds a geom that touches nothing, where one sees it. Its form, if that is read.
  void see_geom(const Placed& at, const View& v, int body, const Transform<double>& base,
                const Form* form);
  std::optional<SeenMesh> seen_mesh(const MeshAsset& asset);
  void show_the_unseen();

  // What touches: mjcf_contacts.cpp.

  TouchRecord touch_of(const View& v);
  int body_named(const Element& e, const char* attribute);
  void read_exclude(const Element& e);
  void read_pair(const Element& e);
  void never(const std::string& a, const std::string& b);
  /// All shapes of one body with all of another. The world has shapes of other files too,
  /// so that those of this one are named.
  void never(const BodyRecord& a, const BodyRecord& b);
  /// Pairs that MuJoCo never lets touch and the engine would: excluded ones, those whose
  /// bits do not meet, and neighbours with several joints between.
  struct ShapedBody;
  std::vector<ShapedBody> shaped_bodies() const;
  void keep_apart();
  void keep_apart(int a, int b);
  /// Rules for every two kinds of geoms, by their friction and softness.
  void add_touch_rules();

  // Loops and couplings: mjcf_equality.cpp.

  /// The file's frame of a body in ours: they differ for the world only.
  Transform<double> in_body(int index) const;
  /// Two bodies held together as they are with every joint at its reference, or as
  /// relpose says.
  void read_loop(const Element& e);
  bool read_loop_of_sites(const Element& e, const View& v, LoopSpec& loop);
  void place_loop(const View& v, int a, int b, LoopSpec& loop);
  void read_joint_equality(const Element& e);
  const JointRecord* single_joint(const Element& e, const char* attribute,
                                  const std::string& who);
  void read_tendon_equality(const Element& e);

  // Tendons: mjcf_tendons.cpp.

  void collect_wraps(const Element& e);
  void note_wrap(const Placed& at, const View& v, int body,
                 const Transform<double>& base);
  const SiteRecord* site_named(const Element& e, const char* attribute,
                               const std::string& who);
  bool read_path(const Element& e, const std::string& who, CouplingSpec& to);
  bool read_terms(const Element& e, const std::string& who, CouplingSpec& to, double& ref,
                  double& at_rest);
  void read_tendon(const Element& e);
  std::optional<std::string> wrong_path(const CouplingSpec& coupling) const;
  double length_of(const CouplingSpec& coupling,
                   const std::function<double(const JointRecord&)>& position) const;

  // Actuators: mjcf_actuators.cpp.

  void read_actuators(const Element& e);
  void read_actuator(const Element& e, int index);
  /// What an element says of an actuator's force, on top of what its defaults said.
  struct ActuatorForce {
    double gain[3] = {1, 0, 0};
    double bias[3] = {0, 0, 0};
    double damping_ratio = 0;
    std::string gain_type = "fixed";
    std::string bias_type = "none";
    std::string dynamics = "none";
    double time = 1;  // of a filter
  };
  void apply(const Element& e, const std::string& who, ActuatorForce& force);
  /// How many activations MuJoCo has for it, read or not.
  int count_activations(const View& v, const ActuatorForce& force);
  /// The joint or tendon that it pulls; false where it pulls none that is read.
  bool find_transmission(const View& v, MotorSpec& motor, ActuatorRecord& record,
                         std::optional<CouplingSpec>& wrench);
  /// The wrench of an actuator at a site, without its name; false where that is not read.
  bool find_wrench(const View& v, const Attribute& site, ActuatorRecord& record,
                   std::optional<CouplingSpec>& wrench);
  std::pair<double, double> limits(const View& v, const char* limited, const char* range);
  /// A range of controls that are positions of what is pulled: as wide as that may move,
  /// times inheritrange.
  std::pair<double, double> inherited_range(const View& v, const MotorSpec& motor,
                                            const ActuatorRecord& record);
  bool read_lag(const View& v, const ActuatorForce& force, MotorSpec& motor,
                ActuatorRecord& record);
  double constant_force(const ActuatorRecord& record, double control) const;
  /// The motor for a control, at its joint.
  void command(const ActuatorRecord& record, double control);

  // Sensors: mjcf_sensors.cpp.

  /// The volume of a site.
  std::optional<Shape> zone_of(const View& v);
  void read_sensors(const Element& e);
  void read_sensor(const Element& e, SensorKind kind);
  bool find_actuator(const Element& e, const View& v, SensorSpec& sensor);
  bool place_sensor(const Element& e, const View& v, bool of_frame, SensorSpec& sensor);

  // The start: mjcf_keyframes.cpp.

  const Element* chosen_key(const Element& root);
  /// The positions of all keyframes that have a name, for targets of motors.
  void keep_keyframes(const Element& root);
  void read_key(const Element& e);
  void normalise(JointRecord& j, const Element& e, const std::string& who);
  /// MuJoCo has angular velocities in the axes of the body, after the linear one.
  static std::vector<double> our_rates(const JointRecord& j,
                                       const std::vector<double>& theirs);
  /// Position actuators hold the pose of a keyframe that states no controls; their
  /// activations are those of that pose where it states none.
  void hold_pose(bool states_activations);

  std::string path_;
  const RobotOptions& options_;
  Problems& problems_;
  Geometry& geometry_;
  Meshes meshes_;
  xml::Document document_;
  xml::Unread unread_;
  std::set<std::string> included_;

  std::map<const std::string*, CompilerSettings> settings_;    // by the file of elements
  std::map<std::string, std::optional<Element>> models_;       // by path; those to attach
  std::set<std::pair<const Element*, std::string>> attached_;  // and with which prefix
  std::size_t copied_ = 0;                                     // elements

  bool balance_inertia_ = false;
  bool fit_around_ = false;  // shapes fitted to meshes hold them
  double least_mass_ = 0, least_inertia_ = 0;
  double total_mass_ = -1;  // above 0: masses are scaled to it
  std::string inertia_from_geom_ = "auto";
  std::pair<double, double> group_range_{0, 5};

  std::vector<DefaultClass> classes_;
  std::map<std::string, int, std::less<>> class_of_;
  std::vector<MeshAsset> assets_;
  std::map<std::string, HfieldAsset, std::less<>> hfields_;  // no heights: not read
  std::map<std::string, Colour, std::less<>> materials_;
  std::set<int> seen_;         // bodies of which something is drawn
  std::vector<int> looks_of_;  // the bodies of parts.looks
  std::map<std::string, std::size_t, std::less<>> mesh_of_;
  Names body_names_, joint_names_, shape_names_, motor_names_, geom_names_, loop_names_,
      coupling_names_, sensor_names_;
  std::vector<BodyRecord> bodies_;  // the first is the world
  std::map<std::string, int, std::less<>> body_of_;
  std::map<std::string, SiteRecord, std::less<>> sites_;
  std::vector<JointRecord> joints_;  // in MuJoCo's order
  std::map<std::string, std::size_t, std::less<>> joint_of_;
  std::map<std::string, TendonRecord, std::less<>> tendons_;
  std::set<std::string, std::less<>> wrapped_;            // geoms that tendons name
  std::map<std::string, WrapRecord, std::less<>> wraps_;  // those that were found
  std::vector<GeomRecord> geoms_;
  std::set<std::string, std::less<>> paired_;  // geoms that pairs name
  std::map<std::string, double> compensated_;  // bodies, by which part of their weight
  std::set<std::pair<int, int>> excluded_;
  std::vector<ActuatorRecord> actuators_;
  std::map<std::string, std::vector<double>> start_rates_;
  std::vector<ContactSpec> pairs_;
  std::vector<ContactSpec> never_;
  std::set<std::string, std::less<>> actuator_names_;  // read or not
  int actuator_count_ = 0, activation_count_ = 0;
  bool counts_activations_ = true;  // plugins may have any number of them
};

}  // namespace bristle::scene::mjcf
