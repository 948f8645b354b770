// The cost of one law evaluation: ns per contact over many contacts on one core, next to
// the loop that one would write by hand for that law, in the same run.
//
//   bench_laws [CONTACTS [ROUNDS]]

#include "bristle/laws/laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/laws/plain_loops.hpp"
#include "bristle/contact/pass.hpp"

namespace {

using namespace bristle;
using ScalarLoops = bench::Plain<false>;
using VectorLoops = bench::Plain<true>;

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The contacts of the workload: depths to 0.18 mm with a tenth of them open, slow
/// sliding. One array holds all columns, each a few cache lines further into its page
/// than the one before: columns that all start alike would fight for the same lines of
/// the cache.
struct Contacts {
  explicit Contacts(std::size_t count)
      : n(count),
        stride((count + 1023) / 512 * 512 + 136),
        data(columns_used * stride + 8) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> u(-1, 1);
    for (std::size_t i = 0; i < n; ++i) {
      column(0)[i] = 1e-4 * (u(random) + 0.8);
      column(1)[i] = 0.1 * u(random);
      column(2)[i] = 0.01 * u(random);
      column(3)[i] = 0.01 * u(random);
      column(4)[i] = 10 * (1 + u(random));
    }
    reset();
  }

  /// Columns start at a cache line.
  double* column(std::size_t i) {
    const auto address = reinterpret_cast<std::uintptr_t>(data.data());
    return data.data() + (64 - address % 64) % 64 / sizeof(double) + i * stride;
  }
  double* memory() { return column(8); }

  /// Every measurement starts from the same memory.
  void reset() {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> u(-1, 1);
    for (std::size_t f = 0; f < max_memory; ++f) {
      for (std::size_t i = 0; i < n; ++i)
        memory()[f * stride + i] = f < 2 ? 1e-7 * u(random) : 0.5;
    }
  }

  ContactColumns<double> columns(bool loaded) {
    return {column(0),
            column(1),
            column(2),
            column(3),
            {memory(), stride},
            {memory(), stride},
            column(loaded ? 4 : 5),
            column(6),
            column(7),
            {memory(), stride},
            {memory(), stride}};
  }

  static constexpr std::size_t max_memory = 4;
  static constexpr std::size_t columns_used = 8 + max_memory;
  std::size_t n;
  std::size_t stride;
  std::vector<double> data;
};

/// Best of several rounds of all entries in turn, so that a change of the machine's mood
/// hits all alike.
struct Entry {
  std::string name;
  std::function<void()> work;
  double best = 1e300;
};

void measure(std::vector<Entry>& entries, Contacts& contacts, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (Entry& e : entries) {
      contacts.reset();
      e.work();  // warm
      const double start = thread_seconds();
      e.work();
      e.best = std::min(e.best, thread_seconds() - start);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto n = static_cast<std::size_t>(argc > 1 ? std::atol(argv[1]) : 1'000'000);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 25;
  const int count = static_cast<int>(n);
  const double h = 1e-5;
  Contacts c(n);
  LawTotals totals;
  LawTotals more;

  const HuntCrossley::Params<double> hc{1e7, 1.5, 0.2};
  const AzadFeatherstone::Params<double> af{1e7, 1e4, 1};
  const AzadFeatherstoneClutch::Params<double> clutch{0.3, 7e6, 1e3, 0, 0};
  const GonthierFriction::Params<double> go{0.4, 0.3, 1e5, 300, 0.1, 1e-3, 0.1, 1};
  double* m = c.memory();
  const std::size_t next = c.stride;

  std::vector<Entry> entries;
  const auto compare = [&](const std::string& name, std::function<void()> scalar,
                           std::function<void()> vectorised, std::function<void()> ours,
                           std::function<void()> with_ledger) {
    entries.push_back({name, std::move(scalar)});
    entries.push_back({name, std::move(vectorised)});
    entries.push_back({name, std::move(ours)});
    entries.push_back({name, std::move(with_ledger)});
  };
  const ContactRange all{0, n};
  const auto open = c.columns(false);
  const auto loaded = c.columns(true);
  compare(
      "hunt-crossley",
      [&] {
        ScalarLoops::hunt_crossley(count, open.depth, open.rate, open.normal_force, 1e7,
                                   0.2);
      },
      [&] {
        VectorLoops::hunt_crossley(count, open.depth, open.rate, open.normal_force, 1e7,
                                   0.2);
      },
      [&] {
        normal_pass<HuntCrossley, LedgerDetail::none, double>(hc, open, all, h, totals);
      },
      [&] {
        normal_pass<HuntCrossley, LedgerDetail::totals, double>(hc, open, all, h, totals);
      });
  compare(
      "azad-featherstone + clutch",
      [&] {
        ScalarLoops::azad_featherstone(count, open.depth, open.rate, open.slip_x,
                                       open.slip_y, m, m + next, open.normal_force,
                                       open.friction_x, open.friction_y, 1e7, 1e4, 7e6,
                                       1e3, 0.3, h);
      },
      [&] {
        VectorLoops::azad_featherstone(count, open.depth, open.rate, open.slip_x,
                                       open.slip_y, m, m + next, open.normal_force,
                                       open.friction_x, open.friction_y, 1e7, 1e4, 7e6,
                                       1e3, 0.3, h);
      },
      [&] {
        contact_passes<AzadFeatherstone, AzadFeatherstoneClutch, LedgerDetail::none,
                       double>(af, clutch, open, all, h, totals, more);
      },
      [&] {
        contact_passes<AzadFeatherstone, AzadFeatherstoneClutch, LedgerDetail::totals,
                       double>(af, clutch, open, all, h, totals, more);
      });
  compare(
      "gonthier-friction",
      [&] {
        ScalarLoops::gonthier(count, loaded.normal_force, open.slip_x, open.slip_y, m,
                              m + next, m + 2 * next, open.friction_x, open.friction_y,
                              1e5, 300, 0.1, 0.3, 0.4, 1e-3, 0.1, h);
      },
      [&] {
        VectorLoops::gonthier(count, loaded.normal_force, open.slip_x, open.slip_y, m,
                              m + next, m + 2 * next, open.friction_x, open.friction_y,
                              1e5, 300, 0.1, 0.3, 0.4, 1e-3, 0.1, h);
      },
      [&] {
        friction_pass<GonthierFriction, LedgerDetail::none, double>(go, loaded, all, h,
                                                                    totals);
      },
      [&] {
        friction_pass<GonthierFriction, LedgerDetail::totals, double>(go, loaded, all, h,
                                                                      totals);
      });
  measure(entries, c, rounds);

  const double per = 1e9 / static_cast<double>(n);
  fmt::print(
      "{} contacts, double, one core, packs of {}; ns per contact, best of {} rounds\n\n",
      n, ScalarTraits<NativePack<double>>::lanes, rounds);
  fmt::print("{:28} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "", "plain", "plain",
             "bristle", "bristle", "scalar/", "ledger");
  fmt::print("{:28} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "", "scalar", "auto-vec", "",
             "+ ledger", "bristle", "cost");
  for (std::size_t i = 0; i < entries.size(); i += 4) {
    fmt::print("{:28} {:8.3f} {:8.3f} {:8.3f} {:9.3f} {:8.2f}x {:7.0f}%\n",
               entries[i].name, per * entries[i].best, per * entries[i + 1].best,
               per * entries[i + 2].best, per * entries[i + 3].best,
               entries[i].best / entries[i + 2].best,
               100 * (entries[i + 3].best / entries[i + 2].best - 1));
  }

  // Every law of the registry at its defaults.
  std::vector<Entry> laws;
  for_each_law(NormalLaws{}, [&]<class L>() {
    const auto p = default_params<L>();
    laws.push_back({std::string(L::info.name), [&, p] {
                      normal_pass<L, LedgerDetail::none, double>(p, open, all, h, totals);
                    }});
    laws.push_back({std::string(L::info.name), [&, p] {
                      normal_pass<L, LedgerDetail::totals, double>(p, open, all, h,
                                                                   totals);
                    }});
  });
  for_each_law(FrictionLaws{}, [&]<class L>() {
    const auto p = default_params<L>();
    laws.push_back({std::string(L::info.name), [&, p] {
                      friction_pass<L, LedgerDetail::none, double>(p, loaded, all, h,
                                                                   totals);
                    }});
    laws.push_back({std::string(L::info.name), [&, p] {
                      friction_pass<L, LedgerDetail::totals, double>(p, loaded, all, h,
                                                                     totals);
                    }});
  });
  measure(laws, c, std::max(1, rounds / 3));
  fmt::print("\n{:28} {:>8} {:>9}\n", "law alone, at its defaults", "bristle",
             "+ ledger");
  for (std::size_t i = 0; i < laws.size(); i += 2) {
    fmt::print("{:28} {:8.3f} {:9.3f}\n", laws[i].name, per * laws[i].best,
               per * laws[i + 1].best);
  }
  return 0;
}
