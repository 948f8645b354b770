#include "scene/mesh_import.hpp"

#include <assimp/MemoryIOWrapper.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "files/guarded.hpp"
#include "files/read_file.hpp"
#include "scene/collada.hpp"
#include "scene/limits.hpp"
#include "scene/ply.hpp"
#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

using xml::shown;
using xml::words;

void collect(const aiScene& scene, const aiNode& node, const aiMatrix4x4& parent,
             Triangles& all) {
  const aiMatrix4x4 here = parent * node.mTransformation;
  for (unsigned i = 0; i < node.mNumMeshes; ++i) {
    const aiMesh& mesh = *scene.mMeshes[node.mMeshes[i]];
    if (all.faces.size() + mesh.mNumFaces > mesh_triangles ||
        all.vertices.size() + mesh.mNumVertices > 3 * mesh_triangles) {
      throw std::length_error(words(
          {"there are more than ", std::to_string(mesh_triangles), " triangles in it"}));
    }
    const auto first = static_cast<std::uint32_t>(all.vertices.size());
    for (unsigned k = 0; k < mesh.mNumVertices; ++k) {
      const aiVector3D v = here * mesh.mVertices[k];
      all.vertices.push_back(
          {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)});
    }
    for (unsigned k = 0; k < mesh.mNumFaces; ++k) {
      const aiFace& face = mesh.mFaces[k];
      if (face.mNumIndices != 3) continue;
      all.faces.push_back(
          {first + face.mIndices[0], first + face.mIndices[1], first + face.mIndices[2]});
    }
  }
  for (unsigned i = 0; i < node.mNumChildren; ++i) {
    collect(scene, *node.mChildren[i], here, all);
  }
}

/// Triangulation takes a time that grows with the square of the corners.
void check_corners(const aiScene& scene) {
  for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
    const aiMesh& mesh = *scene.mMeshes[i];
    for (unsigned k = 0; k < mesh.mNumFaces; ++k) {
      if (mesh.mFaces[k].mNumIndices <= mesh_corners) continue;
      throw std::length_error(words(
          {"a face must not have more than ", std::to_string(mesh_corners), " corners"}));
    }
  }
}

/// Assimp's reading of these bytes and of no other file. Throws where there is none.
Triangles parse(const std::string& bytes, const std::string& ending) {
  Assimp::Importer importer;
  // Robot files take the axes of a COLLADA file as they are; its unit counts.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE,
                              aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  importer.SetIOHandler(new Assimp::MemoryIOSystem(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), nullptr));
  const aiScene* scene = importer.ReadFile(AI_MEMORYIO_MAGIC_FILENAME + ending, 0);
  if (scene != nullptr) {
    check_corners(*scene);
    scene = importer.ApplyPostProcessing(aiProcess_Triangulate | aiProcess_SortByPType |
                                         aiProcess_JoinIdenticalVertices);
  }
  if (scene == nullptr || scene->mRootNode == nullptr) {
    const std::string_view said = importer.GetErrorString();
    if (said.find("bad_alloc") != said.npos) throw std::bad_alloc();
    throw std::runtime_error(shown(said));
  }
  Triangles all;
  collect(*scene, *scene->mRootNode, aiMatrix4x4(), all);
  return all;
}

// Triangles as the child process hands them over: how many vertices, vertices, faces.

std::string packed(const Triangles& all) {
  const std::uint64_t vertices = all.vertices.size();
  const std::size_t vertex_bytes = all.vertices.size() * sizeof(Vec3<double>);
  const std::size_t face_bytes = all.faces.size() * sizeof(all.faces[0]);
  std::string bytes(sizeof vertices + vertex_bytes + face_bytes, '\0');
  std::memcpy(bytes.data(), &vertices, sizeof vertices);
  if (vertex_bytes > 0) {
    std::memcpy(bytes.data() + sizeof vertices, all.vertices.data(), vertex_bytes);
  }
  if (face_bytes > 0) {
    std::memcpy(bytes.data() + sizeof vertices + vertex_bytes, all.faces.data(),
                face_bytes);
  }
  return bytes;
}

/// False where the bytes are not what packed() makes: a child that was led astray.
bool unpacked(const std::string& bytes, Triangles& all) {
  std::uint64_t vertices = 0;
  if (bytes.size() < sizeof vertices) return false;
  std::memcpy(&vertices, bytes.data(), sizeof vertices);
  const std::size_t rest = bytes.size() - sizeof vertices;
  if (vertices > rest / sizeof(Vec3<double>)) return false;
  const std::size_t vertex_bytes = vertices * sizeof(Vec3<double>);
  if ((rest - vertex_bytes) % sizeof(all.faces[0]) != 0) return false;
  all.vertices.resize(vertices);
  all.faces.resize((rest - vertex_bytes) / sizeof(all.faces[0]));
  const char* from = bytes.data() + sizeof vertices;
  if (vertex_bytes > 0) std::memcpy(all.vertices.data(), from, vertex_bytes);
  if (!all.faces.empty()) {
    std::memcpy(all.faces.data(), from + vertex_bytes, rest - vertex_bytes);
  }
  return std::ranges::all_of(all.faces, [&](const auto& face) {
    return std::ranges::all_of(face, [&](std::uint32_t v) { return v < vertices; });
  });
}

/// In a child process, with time for the length of the file.
Result<Triangles> by_assimp(const std::string& bytes, const std::string& ending) {
  const files::GuardLimits limits{
      .seconds = 2 + static_cast<int>(bytes.size() / mesh_bytes_per_second)};
  const Result<std::string> answer =
      files::guarded([&] { return packed(parse(bytes, ending)); }, limits);
  if (!answer) return Error{answer.error()};
  Triangles all;
  if (!unpacked(*answer, all)) return Error{"it is damaged"};
  return all;
}

}  // namespace

Result<Triangles> import_mesh(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  constexpr std::string_view known[] = {".stl", ".obj", ".ply", ".dae"};
  if (std::ranges::find(known, ending) == std::end(known)) {
    return Error{"meshes are read from .stl, .obj, .ply and .dae files, not from "};
  }
  const auto cannot = [](std::string_view why) {
    return Error{words({"cannot read the mesh (", why, ") in "})};
  };
  const Result<std::string> bytes = files::read_file(path, mesh_bytes);
  std::error_code ignored;
  if (!bytes && !std::filesystem::exists(path, ignored)) {
    return Error{"there is no mesh file "};
  }
  if (!bytes) return cannot(bytes.error());
  if (bytes->empty()) return Error{"the mesh file is empty: "};
  if (ending == ".dae") {
    if (const auto wrong = unsound_collada(*bytes)) return cannot(*wrong);
  }
  Result<Triangles> read =
      ending == ".ply" ? parse_ply(*bytes) : by_assimp(*bytes, ending);
  if (!read) return cannot(read.error());
  Triangles all = std::move(*read);
  if (all.faces.empty()) return Error{"there are no triangles in "};
  for (const Vec3<double>& v : all.vertices) {
    if (!(std::fabs(v.x) <= largest_size && std::fabs(v.y) <= largest_size &&
          std::fabs(v.z) <= largest_size)) {
      return Error{"a vertex lies beyond 1e9 m, or is not a number, in "};
    }
  }
  return all;
}

}  // namespace bristle::scene
