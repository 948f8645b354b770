// Whole HDF5 files. The first byte says what becomes of a good one: any bytes in its
// place; bytes changed under the seal; bytes changed in a file that has no seal; or,
// since neither reaches far, its structure changed through the library and sealed again.

#include <hdf5.h>

#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "recording/log.hpp"
#include "recording/seal.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/scratch.hpp"
#include "tests/recording/scenes.hpp"

namespace bristle::recording {
namespace {

const test::FuzzFolder& folder() {
  static const test::FuzzFolder made;
  return made;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A recording of a moment, as a file.
const std::string& good_file() {
  static const std::string bytes = [] {
    const Model model = tumbling();
    State now = thrown(model);
    {
      Result<Recorder> recorder =
          Recorder::create(folder() / "log", model, {.probes = {{"p", "m"}}});
      simulate(model, now,
               SimulateOptions{.clock = {}, .duration = 0.4, .observe_every = 0.1},
               [&](const Observation& seen) { return recorder->sample(seen); });
      recorder->finish({"finished", "{}"});
    }
    if (!fold(folder() / "log", folder() / "good.h5")) std::abort();
    return content(folder() / "good.h5");
  }();
  return bytes;
}

struct Input {
  std::span<const std::uint8_t> bytes;

  unsigned next() {
    if (bytes.empty()) return 0;
    const unsigned value = bytes.front();
    bytes = bytes.subspan(1);
    return value;
  }
  std::size_t offset(std::size_t size) {
    return (next() << 16 | next() << 8 | next()) % std::max<std::size_t>(size, 1);
  }
};

void change_bytes(std::string& file, Input& input) {
  while (input.bytes.size() >= 4) {
    file[input.offset(file.size())] ^= static_cast<char>(input.next());
  }
}

/// Datasets of a recording, by number.
const char* dataset(unsigned number) {
  constexpr const char* names[] = {
      "/time",           "/header",        "/contacts/start",   "/contacts/time_index",
      "/contacts/depth", "/contacts/laws", "/contacts/state",   "/contacts/shape_a",
      "/events/time",    "/events/kind",   "/events/a",         "/ledger/kinetic",
      "/probes/p",       "/summary",       "/bodies",           "/joints",
      "/contacts",       "/events",        "/contacts/shape_b", "/contacts/episode"};
  return names[number % std::size(names)];
}

/// Removes, resizes, replaces or overwrites parts of a file.
void change_structure(hid_t file, Input& input) {
  H5E_auto2_t say = nullptr;
  void* to = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &say, &to);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  for (int changes = 0; !input.bytes.empty() && changes < 8; ++changes) {
    const char* name = dataset(input.next());
    const unsigned how = input.next() % 4;
    if (how == 0) {
      H5Ldelete(file, name, H5P_DEFAULT);
      continue;
    }
    if (how == 1) {
      // Another type and shape under the same name.
      H5Ldelete(file, name, H5P_DEFAULT);
      const hsize_t sizes[] = {input.next() % 20, 1 + input.next() % 5};
      const int rank = 1 + static_cast<int>(input.next() % 2);
      const hid_t space = H5Screate_simple(rank, sizes, nullptr);
      const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, H5T_NATIVE_UINT8};
      const hid_t made = H5Dcreate2(file, name, types[input.next() % 3], space,
                                    H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dclose(made);
      H5Sclose(space);
      continue;
    }
    const hid_t opened = H5Dopen2(file, name, H5P_DEFAULT);
    if (opened < 0) continue;
    const hid_t space = H5Dget_space(opened);
    hsize_t sizes[2] = {0, 1};
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 1 || rank == 2) H5Sget_simple_extent_dims(space, sizes, nullptr);
    if (how == 2) {
      sizes[0] = input.offset(std::size_t{1} << 20);
      H5Dset_extent(opened, sizes);
    } else if (rank > 0 && sizes[0] * sizes[1] < 100000) {
      // Other numbers: of any kind, by their bytes.
      std::vector<std::uint8_t> all(sizes[0] * sizes[1] * 8);
      const hid_t type = H5Dget_type(opened);
      if (H5Tget_class(type) != H5T_STRING && !all.empty() &&
          H5Dread(opened, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) >= 0) {
        for (int k = 0; k < 8 && !input.bytes.empty(); ++k) {
          all[input.offset(all.size())] = static_cast<std::uint8_t>(input.next());
        }
        H5Dwrite(opened, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
      }
      H5Tclose(type);
    }
    H5Sclose(space);
    H5Dclose(opened);
  }
  H5Eset_auto2(H5E_DEFAULT, say, to);
}

void read_all(const std::string& path) {
  Result<Reader> reader = Reader::open(path);
  if (!reader) {
    if (reader.error().empty()) std::abort();
    return;
  }
  Sample sample;
  const std::size_t most = std::min<std::size_t>(reader->size(), 2000);
  for (std::size_t i = 0; i < most; ++i) {
    if (!reader->read(i, sample) && reader->error().empty()) std::abort();
  }
  if (reader->size() > 0 && reader->size() < 2000) {
    const auto table = export_csv(*reader, folder() / "csv");
    if (!table && table.error().empty()) std::abort();
  }
}

}  // namespace
}  // namespace bristle::recording

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle::recording;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  Input input{{data + 1, size - 1}};
  std::string file = good_file();
  switch (data[0] % 4) {
    case 0:
      file.assign(reinterpret_cast<const char*>(data + 1), size - 1);
      break;
    case 1:
      change_bytes(file, input);
      // The seal finds every change.
      {
        const bool same = file == good_file();
        const std::string path = folder().put("x.h5", file);
        const auto seal = seal_of(path);
        if (!seal || (*seal == Seal::whole) != same) std::abort();
      }
      break;
    case 2:
      file.erase(0, user_block);
      change_bytes(file, input);
      break;
    default:
      break;
  }
  const std::string path = folder().put("x.h5", file);
  if (data[0] % 4 == 3) {
    const hid_t opened = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    if (opened < 0) std::abort();
    change_structure(opened, input);
    H5Fclose(opened);
    if (seal(path)) std::abort();
  }
  read_all(path);
  return 0;
}
