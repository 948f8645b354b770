#pragma once

// FCL behind plain numbers: its file is compiled without our architecture flags, because
// the packaged library and its Eigen types are.

namespace bristle::test {

enum class OracleShape : int { sphere, box, cylinder, capsule, ellipsoid, convex };

struct OracleBody {
  OracleShape shape;
  double size[3];        // radius; half edges; radius and half length; semi-axes
  const double* points;  // of a convex hull: x, y, z
  int point_count;
  const int* faces;  // a count, then that many vertices, for each face
  int face_count;
  int face_numbers;
  double columns[9];  // of the rotation
  double position[3];
};

struct OracleAnswer {
  bool overlap;
  double distance;  // when apart
  double depth;     // when overlapping
};

OracleAnswer ask_fcl(const OracleBody& a, const OracleBody& b);

}  // namespace bristle::test
