// A program outside the tree: a law used as a value, and one found by name.
#include <bristle/laws/catalogue.hpp>
#include <bristle/laws/laws.hpp>
#include <cmath>
#include <cstdio>

int main() {
  using bristle::GonthierNormal;
  const auto params = bristle::default_params<GonthierNormal>();
  const auto memory = GonthierNormal::touch(params, 1.0);
  const auto kin = bristle::Kinematics<double>::at(1e-4, 0.2);
  const double force = GonthierNormal::evaluate(params, memory, kin).force;

  const auto law = bristle::find_law("gonthier");
  if (!law) return 1;
  const auto report = (*law)->impact((*law)->defaults(), 0.154, 1.0, nullptr);
  if (!report) return 1;
  std::printf("force %.6g N, restitution %.9f\n", force, report->restitution);
  return std::fabs(report->restitution - params.restitution) < 1e-9 && force > 0 ? 0 : 1;
}
