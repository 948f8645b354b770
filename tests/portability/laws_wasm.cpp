// Every law, in every operation, compiled without exceptions for a browser.
#include "bristle/laws/laws.hpp"

namespace bristle {
namespace {

template <class T>
T exercise() {
  T sum = T(0);
  const auto kin = Kinematics<T>::at(T(1e-4f), T(0.1f), {T(0.01f), T(0)});
  for_each_law(NormalLaws{}, [&]<class L>() {
    const auto p = cast_params<L, T, double>(default_params<L>());
    const auto state = L::touch(p, T(1));
    sum += L::evaluate(p, state, kin).force + L::advance(p, state, kin, T(1e-3f)).force +
           L::linearise(p, state, kin).by_depth + L::commit(p, state, kin).released;
    for (const T& guard : L::guards(p, state, kin)) sum += guard;
  });
  for_each_law(FrictionLaws{}, [&]<class L>() {
    const auto p = cast_params<L, T, double>(default_params<L>());
    const auto state = L::touch(p);
    sum += L::evaluate(p, state, kin, T(1)).force.x +
           L::advance(p, state, kin, T(1), T(1e-3f)).force.x +
           L::linearise(p, state, kin, T(1)).by_slip[0].x +
           L::spring(p, state, kin, T(1)).bound + L::commit(p, state, kin, T(1)).released;
    for (const T& guard : L::guards(p, state, kin, T(1))) sum += guard;
  });
  return sum;
}

}  // namespace
}  // namespace bristle

double all_laws_double() { return bristle::exercise<double>(); }
float all_laws_float() { return bristle::exercise<float>(); }
double all_laws_dual() { return bristle::exercise<bristle::Dual<double, 2>>().by[0]; }
double all_laws_pack() { return bristle::exercise<bristle::NativePack<double>>()[0]; }
