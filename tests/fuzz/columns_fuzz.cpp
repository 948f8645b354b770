// HDF5 files of measurements: datasets of any type and shape, made as the input says, in
// files some bytes of which are changed afterwards.

#include <hdf5.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "identify/force_model.hpp"
#include "identify/table.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/scratch.hpp"

namespace bristle::identify {
namespace {

struct Input {
  std::span<const std::uint8_t> bytes;

  unsigned next() {
    if (bytes.empty()) return 0;
    const unsigned value = bytes.front();
    bytes = bytes.subspan(1);
    return value;
  }
};

constexpr const char* names[] = {"/position_m", "/force_N",     "/time",
                                 "/impact",     "/probes/f",    "/position_um",
                                 "/force_kN",   "/velocity_m_s"};

/// One dataset: its type, its shape, and numbers of any kind.
void add_dataset(hid_t file, Input& input) {
  const char* name = names[input.next() % std::size(names)];
  const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_NATIVE_INT64,
                         H5T_NATIVE_UINT8, H5T_C_S1};
  const hid_t type = types[input.next() % std::size(types)];
  const hsize_t sizes[] = {input.next() % 20, 1 + input.next() % 3};
  const int rank = static_cast<int>(input.next() % 8 == 0 ? input.next() % 3 : 1);
  const hid_t space =
      rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, sizes, nullptr);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t dataset =
      H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  if (dataset >= 0) {
    constexpr std::array odd{0.0, 1e-5, -1.0, 1e300, HUGE_VAL, -HUGE_VAL, 0.5, 3.0};
    std::vector<double> values(64);
    for (double& x : values) x = odd[input.next() % odd.size()];
    H5Dwrite(dataset, type == H5T_C_S1 ? type : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
             H5P_DEFAULT, values.data());
    H5Dclose(dataset);
  }
  H5Pclose(links);
  H5Sclose(space);
}

void make_file(const std::string& path, Input& input) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const unsigned datasets = input.next() % 6;
  for (unsigned i = 0; i < datasets; ++i) add_dataset(file, input);
  H5Fclose(file);
}

/// Bytes of the file, exchanged at places that the input says.
void change_bytes(const std::string& path, Input& input) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  while (input.bytes.size() >= 3 && !bytes.empty()) {
    const std::size_t at = input.next() << 8 | input.next();
    bytes[at % bytes.size()] ^= static_cast<char>(input.next());
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace
}  // namespace bristle::identify

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle::identify;  // NOLINT(google-build-using-namespace)
  static const bristle::test::FuzzFolder folder;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Input input{{data, size}};
  const unsigned how = input.next();
  const std::string path = folder / "data.h5";
  if (how % 4 == 0) {
    folder.put("data.h5",
               {reinterpret_cast<const char*>(data + (size > 0)), size - (size > 0)});
  } else {
    make_file(path, input);
    if (how % 4 == 1) change_bytes(path, input);
  }
  ColumnNames named;
  if ((how & 4) != 0) named = {{"force_N", "/probes/f"}};
  if ((how & 8) != 0) named = {{"force_N", "/probes"}};
  const auto table = read_table(path, force_columns(), named);
  if (!table) {
    if (table.error().empty()) __builtin_trap();
    return 0;
  }
  if (table->rows() == 0) __builtin_trap();
  for (const auto& [name, values] : table->columns) {
    if (values.size() != table->rows()) __builtin_trap();
    for (const double x : values) {
      if (!std::isfinite(x)) __builtin_trap();
    }
  }
  const auto forces = force_data(*table);
  if (!forces && forces.error().empty()) __builtin_trap();
  return 0;
}
