#include "tests/geometry/fcl_oracle.hpp"

#include <fcl/fcl.h>

#include <memory>
#include <vector>

namespace bristle::test {
namespace {

std::shared_ptr<fcl::CollisionGeometryd> make(const OracleBody& body) {
  const double* s = body.size;
  switch (body.shape) {
    case OracleShape::sphere:
      return std::make_shared<fcl::Sphered>(s[0]);
    case OracleShape::box:
      return std::make_shared<fcl::Boxd>(2 * s[0], 2 * s[1], 2 * s[2]);
    case OracleShape::cylinder:
      return std::make_shared<fcl::Cylinderd>(s[0], 2 * s[1]);
    case OracleShape::capsule:
      return std::make_shared<fcl::Capsuled>(s[0], 2 * s[1]);
    case OracleShape::ellipsoid:
      return std::make_shared<fcl::Ellipsoidd>(s[0], s[1], s[2]);
    case OracleShape::convex:
      break;
  }
  auto points = std::make_shared<std::vector<fcl::Vector3d>>();
  for (int i = 0; i < body.point_count; ++i) {
    const double* p = body.points + 3 * i;
    points->emplace_back(p[0], p[1], p[2]);
  }
  auto faces =
      std::make_shared<std::vector<int>>(body.faces, body.faces + body.face_numbers);
  return std::make_shared<fcl::Convexd>(points, body.face_count, faces, false);
}

fcl::Transform3d pose(const OracleBody& body) {
  fcl::Transform3d x = fcl::Transform3d::Identity();
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) x.linear()(i, j) = body.columns[3 * j + i];
    x.translation()(j) = body.position[j];
  }
  return x;
}

}  // namespace

OracleAnswer ask_fcl(const OracleBody& a, const OracleBody& b) {
  const fcl::CollisionObjectd one(make(a), pose(a));
  const fcl::CollisionObjectd two(make(b), pose(b));
  OracleAnswer answer{};
  fcl::CollisionRequestd collide(20, true);
  collide.gjk_solver_type = fcl::GST_LIBCCD;
  collide.gjk_tolerance = 1e-9;
  fcl::CollisionResultd collision;
  answer.overlap = fcl::collide(&one, &two, collide, collision) > 0;
  for (std::size_t i = 0; i < collision.numContacts(); ++i) {
    answer.depth = std::max(answer.depth, collision.getContact(i).penetration_depth);
  }
  if (!answer.overlap) {
    fcl::DistanceRequestd request(true, false);
    request.gjk_solver_type = fcl::GST_LIBCCD;
    request.distance_tolerance = 1e-9;
    fcl::DistanceResultd result;
    fcl::distance(&one, &two, request, result);
    answer.distance = result.min_distance;
  }
  return answer;
}

}  // namespace bristle::test
