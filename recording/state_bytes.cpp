#include "recording/state_bytes.hpp"

#include <algorithm>
#include <climits>

#include "bristle/contact/law_pool.hpp"
#include "bristle/laws/choice.hpp"
#include "recording/crc32c.hpp"

namespace bristle::recording {

namespace {

// The first eight bytes: "BRSTATE" and a digit, the format. Format 2 has the names of
// laws in its fingerprints, and rows of joints and contacts apart; format 3 the rows'
// impulses; format 4 what the rolling and spin of patches lost.
constexpr std::uint64_t magic = 0x45544154535242;
constexpr unsigned format_shift = 56;
constexpr std::uint64_t format = '4';
constexpr const char* damaged_text = "the state is damaged";

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// FNV-1a, 64 bits.
class Hash {
 public:
  template <Number T>
  void add(T number) {
    std::byte bytes[sizeof(T)];
    std::memcpy(bytes, &number, sizeof(T));
    for (const std::byte b : bytes) add_byte(b);
  }
  void add(std::string_view text) {
    add(text.size());
    for (const std::byte b : std::as_bytes(std::span(text))) add_byte(b);
  }
  void add(const Vec3<double>& v) {
    add(v.x);
    add(v.y);
    add(v.z);
  }
  void add(const Transform<double>& x) {
    add(x.R.x);
    add(x.R.y);
    add(x.R.z);
    add(x.p);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T& x : list) add(x);
  }
  template <class T, std::size_t n>
  void add(const std::array<T, n>& list) {
    for (const T& x : list) add(x);
  }
  std::uint64_t value() const { return hash_; }

 private:
  void add_byte(std::byte b) {
    hash_ = (hash_ ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  }
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

void add_shape(Hash& hash, const Shape& shape) {
  hash.add(static_cast<int>(kind_of(shape)));
  if (const auto* s = std::get_if<Sphere>(&shape)) hash.add(s->radius);
  if (const auto* s = std::get_if<Box>(&shape)) hash.add(s->half);
  if (const auto* s = std::get_if<Ellipsoid>(&shape)) hash.add(s->semi_axes);
  const auto round = [&](const auto* s) {
    if (s == nullptr) return;
    hash.add(s->radius);
    hash.add(s->half_length);
  };
  round(std::get_if<Cylinder>(&shape));
  round(std::get_if<Cavity>(&shape));
  round(std::get_if<Capsule>(&shape));
  const auto surface = [&](const TriangleSurface& s) {
    hash.add(s.vertices);
    hash.add(s.triangles);
    hash.add(s.max_depth);
    hash.add(s.merge_angle);
  };
  if (const auto* s = std::get_if<Terrain>(&shape)) surface(s->field->surface);
  if (const auto* s = std::get_if<Mesh>(&shape)) surface(s->mesh->surface);
  if (const auto* s = std::get_if<Convex>(&shape)) hash.add(s->hull->vertices);
}

void add_layout(Hash& hash, const Model& model) {
  for (const Link& link : model.tree.links()) {
    hash.add(link.parent);
    hash.add(link.q);
    hash.add(link.v);
    hash.add(static_cast<int>(link.type));
  }
  for (const Body& body : model.tree.bodies()) {
    hash.add(body.name);
    hash.add(body.link);
  }
  for (const Joint& joint : model.tree.joints()) hash.add(joint.name);
  for (const ModelShape& shape : model.shapes) {
    hash.add(shape.name);
    hash.add(shape.body);
    hash.add(static_cast<int>(kind_of(shape.shape)));
  }
  hash.add(model.blocks.size());
  hash.add(model.joint_blocks);
  for (const LawBlock& block : model.blocks) {
    // By name: the index of a registered law depends on what else a program registers.
    hash.add(block.rigid ? std::string_view("rigid") : entry_of(block.normal).info.name);
    hash.add(entry_of(block.friction).info.name);
    if (block.spins()) hash.add(static_cast<int>(block.friction.spin));
  }
  hash.add(model.joint_rows.size());
  hash.add(model.joint_block_rows);
  if (model.lagged_motors > 0) hash.add(model.lagged_motors);
  hash.add(model.normal_fields);
  hash.add(model.friction_fields);
  hash.add(static_cast<int>(model.contact_ledger));
}

void add_signal(Hash& hash, const Signal& signal) {
  for (const double x :
       {signal.offset, signal.slope, signal.amplitude, signal.frequency, signal.phase}) {
    hash.add(x);
  }
  for (const SignalPiece& piece : signal.pieces) {
    for (const double x :
         {piece.begin, piece.value, piece.rate, piece.curvature, piece.jerk}) {
      hash.add(x);
    }
  }
  if (!signal.pieces.empty()) hash.add(signal.period);
}

void add_parameters(Hash& hash, const Model& model) {
  hash.add(model.tree.gravity());
  for (const LinkConstants<double>& link : model.tree.constants()) {
    hash.add(link.joint);
    hash.add(link.inertia.mass);
    hash.add(link.inertia.moment);
    const Sym3<double>& s = link.inertia.rotational;
    for (const double x : {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz}) hash.add(x);
  }
  for (const Dof& dof : model.tree.dofs()) {
    for (const double x : {dof.damping, dof.stiffness, dof.rest, dof.armature,
                           dof.friction, dof.effort_limit, dof.lower, dof.upper}) {
      hash.add(x);
    }
  }
  for (const ModelShape& shape : model.shapes) {
    add_shape(hash, shape.shape);
    hash.add(shape.in_link);
    hash.add(shape.kind);
  }
  for (const LawBlock& block : model.blocks) {
    hash.add(block.normal.parameters);
    hash.add(block.friction.parameters);
    hash.add(block.restitution);
  }
  for (const JointRow& row : model.joint_rows) {
    hash.add(row.dof);
    hash.add(row.sign);
    hash.add(row.bound);
    hash.add(row.load);
    if (row.coupling >= 0) hash.add(row.coupling);
  }
  for (const PairRule& rule : model.rules) {
    hash.add(rule.block);
    hash.add(rule.share_a);
    hash.add(static_cast<int>(rule.adjacent));
  }
  for (const Motor& motor : model.motors) {
    hash.add(motor.name);
    hash.add(static_cast<int>(motor.kind));
    hash.add(motor.v);
    hash.add(motor.kp);
    hash.add(motor.kd);
    hash.add(motor.coupling);
    hash.add(motor.least_force);
    hash.add(motor.largest_force);
    hash.add(motor.torque);
    if (motor.compensates_gravity) hash.add(std::string_view("compensates gravity"));
    add_signal(hash, motor.target);
    if (motor.lagged < 0) continue;
    hash.add(static_cast<int>(motor.lag.kind));
    for (const double x : {motor.lag.time, motor.lag.base, motor.lag.start,
                           motor.lag.least, motor.lag.largest}) {
      hash.add(x);
    }
  }
  for (const Coupling& coupling : model.couplings) {
    for (const DofWeight& j : coupling.joints) {
      hash.add(j.dof);
      hash.add(j.weight);
    }
    for (const double x : {coupling.rest, coupling.stiffness, coupling.damping}) {
      hash.add(x);
    }
    for (const PathElement& part : coupling.path) {
      hash.add(static_cast<int>(part.part));
      hash.add(part.link);
      hash.add(part.pose);
      hash.add(part.radius);
      hash.add(part.divisor);
      if (!part.has_side) continue;
      hash.add(part.side_link);
      hash.add(part.side);
    }
    if (coupling.wrench_link < 0) continue;
    hash.add(coupling.wrench_link);
    hash.add(coupling.wrench_pose);
    hash.add(coupling.wrench.force);
    hash.add(coupling.wrench.torque);
  }
  for (const Load& load : model.loads) {
    hash.add(load.link);
    hash.add(load.point);
    hash.add(load.force);
    hash.add(load.torque);
  }
  for (const VelocityConstraint& constraint : model.constraints) {
    hash.add(constraint.link_a);
    hash.add(constraint.link_b);
    hash.add(constraint.point);
    hash.add(constraint.offset);
    hash.add(constraint.direction);
    hash.add(static_cast<int>(constraint.turns_with_b));
    hash.add(constraint.damping);
  }
  for (const Loop& loop : model.loops) {
    hash.add(static_cast<int>(loop.kind));
    hash.add(static_cast<int>(loop.rigid));
    hash.add(loop.link_a);
    hash.add(loop.link_b);
    hash.add(loop.on_a);
    hash.add(loop.on_b);
    for (const double x : {loop.length, loop.stiffness, loop.damping, loop.turn_stiffness,
                           loop.turn_damping}) {
      hash.add(x);
    }
  }
}

/// Every number of a row but its memory, the same way out and in. `io` takes each one by
/// reference.
template <class Rows, class Io>
void each_field(const Model& model, Rows& rows, std::size_t i, const Io& io) {
  const auto vec3 = [&](auto& v) {
    io(v.x);
    io(v.y);
    io(v.z);
  };
  if constexpr (requires { rows.key; }) {
    io(rows.key[i].a);
    io(rows.key[i].b);
    io(rows.key[i].feature);
    vec3(rows.frame[i].t1);
    vec3(rows.frame[i].t2);
    vec3(rows.frame[i].n);
    vec3(rows.point[i]);
    vec3(rows.anchor[i]);
  }
  io(rows.episode[i]);
  io(rows.depth[i]);
  io(rows.rate[i]);
  io(rows.acceleration[i]);
  io(rows.approach[i]);
  auto& entered = rows.entered[i];
  io(entered.slip.x);
  io(entered.slip.y);
  io(entered.friction.x);
  io(entered.friction.y);
  io(entered.damper);
  io(entered.slipping);
  if (model.has_patches) {
    io(entered.approach);
    io(entered.turning.x);
    io(entered.turning.y);
    io(entered.rolling.x);
    io(entered.rolling.y);
    io(entered.spin);
    io(entered.spin_friction);
    io(rows.impulse[i].spin);
  }
  io(rows.sides[i]);
  auto& impulse = rows.impulse[i];
  io(impulse.normal);
  io(impulse.across.x);
  io(impulse.across.y);
  io(rows.lag[i]);
}

/// The columns of a block's memory that its laws use; the others are zero.
std::vector<std::size_t> columns_in_use(const MemoryLayout& layout, const LawBlock& laws,
                                        bool contact_ledger) {
  std::vector<std::size_t> columns{at(MemoryLayout::turn), at(MemoryLayout::travel)};
  const auto add = [&](int first, int count) {
    for (int k = 0; k < count; ++k) columns.push_back(at(first + k));
  };
  add(layout.normal, LawPool::normal_fields(laws));
  add(layout.friction, friction_law(laws.friction).fields);
  if (contact_ledger) {
    if (laws.has_normal_law()) add(layout.normal_ledger, 5);
    add(layout.friction_ledger, 5);
  }
  return columns;
}

/// work(numbers) for each column of each block.
template <class Rows, class Work>
void each_column(const Model& model, std::span<const LawBlock> blocks, Rows& rows,
                 const Work& work) {
  const MemoryLayout layout(model);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t first = at(rows.begin[b]);
    const std::size_t count = at(rows.begin[b + 1]) - first;
    if (count == 0) continue;
    for (const std::size_t k : columns_in_use(layout, blocks[b], model.contact_ledger)) {
      work(std::span(rows.memory).subspan(k * rows.capacity() + first, count));
    }
  }
}

template <class Rows>
void put_rows(const Model& model, std::span<const LawBlock> blocks, const Rows& rows,
              ByteWriter& to) {
  to.put_count(rows.begin.size());
  for (const int begin : rows.begin) to.put(begin);
  to.put_count(at(rows.count));
  for (std::size_t i = 0; i < at(rows.count); ++i) {
    each_field(model, rows, i, [&](const auto& number) { to.put(number); });
  }
  each_column(model, blocks, rows,
              [&](std::span<const double> column) { to.put_doubles(column); });
}

/// Empty, or why the rows cannot be those of the model.
template <class Rows>
std::string get_rows(const Model& model, std::span<const LawBlock> blocks,
                     ByteReader& from, Rows& rows) {
  if (from.get_count(4) != rows.begin.size()) from.fail();
  for (int& begin : rows.begin) begin = from.get<int>();
  const std::size_t count = from.get_count(1);
  if (from.ok() && count > rows.capacity() && !model.rooms_grow) {
    return "the state has " + std::to_string(count) +
           " contact rows, the model has room for " + std::to_string(rows.capacity());
  }
  // Each block begins at a multiple of the lanes, and the last one ends the rows.
  int last = 0;
  for (const int begin : rows.begin) {
    if (begin < last || begin > static_cast<int>(std::min<std::size_t>(count, INT_MAX))) {
      from.fail();
    }
    last = begin;
  }
  if (!from.ok()) return damaged_text;
  rows.grow(count, at(MemoryLayout(model).count));
  rows.count = static_cast<int>(count);
  for (std::size_t i = 0; i < count; ++i) {
    each_field(model, rows, i, [&](auto& number) {
      number = from.get<std::remove_reference_t<decltype(number)>>();
    });
  }
  if (!from.ok()) return damaged_text;
  each_column(model, blocks, rows,
              [&](std::span<double> column) { from.get_doubles(column); });
  return {};
}

}  // namespace

Fingerprint fingerprint(const Model& model) {
  Hash hash;
  add_layout(hash, model);
  const std::uint64_t layout = hash.value();
  add_parameters(hash, model);
  return {layout, hash.value()};
}

Bytes serialise(const Model& model, const State& state) {
  Bytes bytes;
  serialise(model, fingerprint(model), state, bytes);
  return bytes;
}

void serialise(const Model& model, const Fingerprint& print, const State& state,
               Bytes& bytes) {
  bytes.clear();
  ByteWriter to(bytes);
  to.put(magic | format << format_shift);
  to.put(print.layout);
  to.put(print.whole);
  to.put(state.time);
  const auto numbers = [&](std::span<const double> list) {
    to.put_count(list.size());
    to.put_doubles(list);
  };
  numbers(state.q);
  numbers(state.v);
  numbers(state.v_stepped);
  for (std::size_t i = 0; i < work_lines; ++i) to.put(field<double>(state.works, i));
  to.put(state.episodes);
  to.put(state.committed);
  to.put(state.begun);

  to.put(state.rows_time);
  to.put(state.impulse_time);
  to.put(state.impulse_step);
  if (!state.lagged.empty()) {
    numbers(state.lagged);
    to.put(state.lag_time);
  }
  put_rows(model, model.joint_law_blocks(), state.joints, to);
  put_rows(model, model.contact_law_blocks(), state.contacts, to);
  to.put(crc32c(bytes));
}

Result<State> deserialise(std::span<const std::byte> bytes, const Model& model,
                          Match match) {
  const Error damaged{damaged_text};
  if (bytes.size() < sizeof magic + 4) return damaged;
  ByteReader check(bytes.last(4));
  if (crc32c(bytes.first(bytes.size() - 4)) != check.get<std::uint32_t>()) {
    return damaged;
  }
  ByteReader from(bytes.first(bytes.size() - 4));
  const auto first = from.get<std::uint64_t>();
  const std::uint64_t found = first >> format_shift;
  if ((first ^ magic) != found << format_shift) {
    return Error{"this is not a state of Bristle"};
  }
  if (found != format) {
    std::string text("the state is of format ");
    text += static_cast<char>(found);
    text += "; this program reads format ";
    text += static_cast<char>(format);
    return Error{text};
  }
  const Fingerprint print = fingerprint(model);
  if (from.get<std::uint64_t>() != print.layout) {
    return Error{
        "the state belongs to another model: its bodies, joints, shapes or laws differ"};
  }
  if (from.get<std::uint64_t>() != print.whole && match == Match::whole) {
    return Error{
        "the state belongs to a model with other numbers (masses, dimensions, "
        "parameters of laws, motors)"};
  }
  State state = make_state(model);
  state.time = from.get<double>();
  const auto numbers = [&](std::vector<double>& list) {
    if (from.get_count(8) != list.size()) from.fail();
    from.get_doubles(list);
  };
  numbers(state.q);
  numbers(state.v);
  numbers(state.v_stepped);
  for (std::size_t i = 0; i < work_lines; ++i) {
    field<double>(state.works, i) = from.get<double>();
  }
  state.episodes = from.get<std::uint32_t>();
  state.committed = from.get<bool>();
  state.begun = from.get<bool>();

  state.rows_time = from.get<double>();
  state.impulse_time = from.get<double>();
  state.impulse_step = from.get<double>();
  if (!state.lagged.empty()) {
    numbers(state.lagged);
    state.lag_time = from.get<double>();
  }
  std::string wrong = get_rows(model, model.joint_law_blocks(), from, state.joints);
  if (wrong.empty()) {
    wrong = get_rows(model, model.contact_law_blocks(), from, state.contacts);
  }
  if (!wrong.empty()) return Error{std::move(wrong)};
  for (std::size_t i = 0; i < at(state.contacts.count); ++i) {
    const ContactKey& key = state.contacts.key[i];
    const auto known = [&](std::uint32_t shape) {
      return shape == no_shape || shape < model.shapes.size();
    };
    if (!known(key.a) || !known(key.b)) from.fail();
  }
  if (!from.ok() || from.left() > 0) return damaged;
  return state;
}

}  // namespace bristle::recording
