#pragma once

#include <string>
#include <vector>

#include "recording/reader.hpp"

// Recordings for other programs: tables, ParaView, viewers of glTF.

namespace bristle::recording {

/// Which samples become frames.
struct FrameOptions {
  double interval = 0;  // at least so far apart [s]; 0: every sample
  /// At most so many, the distance between them grows.
  std::size_t most = 20000;
};

/// The samples that become frames.
std::vector<std::size_t> choose_frames(std::span<const double> times,
                                       const FrameOptions& options);

struct ExportReport {
  std::vector<std::string> files{};  // to look at; of frames only the collection
  std::size_t file_count = 0;
  std::size_t frames = 0;
};

struct CsvOptions {
  /// samples.csv with everything side by side, in place of bodies.csv, joints.csv,
  /// ledger.csv and probes.csv.
  bool one_table = false;
  FrameOptions frames{.interval = 0, .most = static_cast<std::size_t>(-1)};
};

/// The tables, contacts.csv with one line per contact and sample, and events.csv, into a
/// folder that is made where need be. Numbers are written so that they read back as the
/// same bits; the unit stands behind the name, in brackets.
Result<ExportReport> export_csv(Reader& reader, const std::string& folder,
                                const CsvOptions& options = {});

struct SurfaceOptions {
  int around = 32;   // corners of a circle
  double plane = 0;  // half the edge of the patch that is drawn [m]; 0: by the scene
};

struct VtkOptions {
  FrameOptions frames{.interval = 0, .most = 2000};
  SurfaceOptions surfaces{};
};

/// recording.pvd for ParaView, with two files per frame in frames/: the surfaces of all
/// shapes (cells carry the numbers of shape and body), and the contact points with their
/// forces on shape b, depth, slip and state.
Result<ExportReport> export_vtk(Reader& reader, const std::string& folder,
                                const VtkOptions& options = {});

struct GltfOptions {
  FrameOptions frames{};
  SurfaceOptions surfaces{};
};

/// One binary glTF 2.0 file (.glb): a node per body, animated, with a node per shape. Its
/// root turns our z axis up into glTF's y axis. Times count from the first frame.
Result<ExportReport> export_gltf(Reader& reader, const std::string& path,
                                 const GltfOptions& options = {});

}  // namespace bristle::recording
