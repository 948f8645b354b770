// Every law, in every operation, inside a kernel.
#include "bristle/laws/laws.hpp"

namespace bristle {
namespace {

template <class L, class T>
__global__ void normal(typename L::template Params<T> p, const Kinematics<T>* kin,
                       T* out) {
  const auto state = L::touch(p, T(1));
  out[threadIdx.x] = L::evaluate(p, state, kin[threadIdx.x]).force +
                     L::advance(p, state, kin[threadIdx.x], T(1e-3)).force +
                     L::linearise(p, state, kin[threadIdx.x]).by_depth +
                     L::commit(p, state, kin[threadIdx.x]).released;
  const auto guards = L::guards(p, state, kin[threadIdx.x]);
  for (std::size_t i = 0; i < guards.size(); ++i) out[threadIdx.x] += guards[i];
}

template <class L, class T>
__global__ void friction(typename L::template Params<T> p, const Kinematics<T>* kin,
                         T* out) {
  const auto state = L::touch(p);
  const T f_n = T(1);
  out[threadIdx.x] = L::evaluate(p, state, kin[threadIdx.x], f_n).force.x +
                     L::advance(p, state, kin[threadIdx.x], f_n, T(1e-3)).force.x +
                     L::linearise(p, state, kin[threadIdx.x], f_n).by_slip[0].x +
                     L::spring(p, state, kin[threadIdx.x], f_n).bound +
                     L::commit(p, state, kin[threadIdx.x], f_n).released;
  const auto guards = L::guards(p, state, kin[threadIdx.x], f_n);
  for (std::size_t i = 0; i < guards.size(); ++i) out[threadIdx.x] += guards[i];
}

template <class T>
void launch_all(const Kinematics<T>* kin, T* out) {
  for_each_law(NormalLaws{}, [=]<class L>() {
    normal<L, T><<<1, 32>>>(cast_params<L, T, double>(default_params<L>()), kin, out);
  });
  for_each_law(FrictionLaws{}, [=]<class L>() {
    friction<L, T><<<1, 32>>>(cast_params<L, T, double>(default_params<L>()), kin, out);
  });
}

}  // namespace
}  // namespace bristle

void launch_double(const bristle::Kinematics<double>* kin, double* out) {
  bristle::launch_all(kin, out);
}
void launch_float(const bristle::Kinematics<float>* kin, float* out) {
  bristle::launch_all(kin, out);
}
