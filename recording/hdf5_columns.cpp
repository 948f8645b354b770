#include "recording/hdf5_columns.hpp"

#include <hdf5.h>

#include <cstdint>
#include <cstring>

#include "files/guarded.hpp"
#include "files/read_file.hpp"

namespace bristle::recording {

namespace {

constexpr hsize_t most_rows = 10'000'000;

/// What the child answers of a dataset: whether it is there, the count, and the numbers.
constexpr char absent = 'a', present = 'p', wrong = 'w';

bool has_dataset(hid_t file, const std::string& path) {
  // Every group on the way must be there: H5Lexists does not look beyond one that is not.
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (H5Lexists(file, path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0;
}

/// Appends a dataset, or says in words what is wrong with it.
std::string read_one(hid_t file, const std::string& path, std::string& answer) {
  const hid_t dataset = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
  if (dataset < 0) return path + " is not a dataset";
  const hid_t type = H5Dget_type(dataset);
  const H5T_class_t kind = H5Tget_class(type);
  H5Tclose(type);
  const hid_t space = H5Dget_space(dataset);
  const int rank = H5Sget_simple_extent_ndims(space);
  hsize_t rows = 0;
  if (rank == 1) H5Sget_simple_extent_dims(space, &rows, nullptr);
  H5Sclose(space);
  std::string problem;
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
    problem = path + " does not hold numbers";
  } else if (rank != 1) {
    problem = path + " must have one dimension";
  } else if (rows > most_rows) {
    problem = path + " has more than 1e7 rows";
  } else {
    std::vector<double> values(rows);
    if (rows > 0 && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            values.data()) < 0) {
      problem = path + " cannot be read";
    }
    const std::uint64_t count = rows;
    answer.append(reinterpret_cast<const char*>(&count), sizeof count);
    answer.append(reinterpret_cast<const char*>(values.data()),
                  values.size() * sizeof(double));
  }
  H5Dclose(dataset);
  return problem;
}

/// In the child.
std::string read_all(const std::string& path, std::span<const std::string> datasets) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return std::string(1, wrong) + "this is no HDF5 file, or a damaged one";
  std::string answer;
  for (const std::string& dataset : datasets) {
    if (dataset.empty() || !has_dataset(file, dataset)) {
      answer += absent;
      continue;
    }
    answer += present;
    const std::string problem = read_one(file, dataset, answer);
    if (!problem.empty()) {
      H5Fclose(file);
      return std::string(1, wrong) + problem;
    }
  }
  H5Fclose(file);
  return answer;
}

}  // namespace

Result<std::vector<std::optional<std::vector<double>>>> read_hdf5_columns(
    const std::string& path, std::span<const std::string> datasets) {
  if (auto problem = files::unreadable(path)) {
    return Error{path + ": " + problem->message};
  }
  const auto answer = files::guarded([&] { return read_all(path, datasets); });
  if (!answer) return Error{path + ": " + answer.error()};
  if (answer->starts_with(wrong)) return Error{path + ": " + answer->substr(1)};
  std::vector<std::optional<std::vector<double>>> columns(datasets.size());
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t size) {
    if (answer->size() - at < size) return false;
    if (size > 0) std::memcpy(to, answer->data() + at, size);
    at += size;
    return true;
  };
  for (auto& column : columns) {
    char is = absent;
    std::uint64_t count = 0;
    if (!take(&is, 1)) return Error{path + ": it was not read to its end"};
    if (is == absent) continue;
    if (!take(&count, sizeof count) || count > most_rows) {
      return Error{path + ": it was not read to its end"};
    }
    column.emplace(count);
    if (!take(column->data(), count * sizeof(double))) {
      return Error{path + ": it was not read to its end"};
    }
  }
  return columns;
}

}  // namespace bristle::recording
