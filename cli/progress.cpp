#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/text.hpp"

namespace bristle::cli {

namespace {

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Progress::Progress(double begin, double end, bool quiet)
    : begin_(begin),
      end_(end),
      quiet_(quiet),
      terminal_(isatty(fileno(stderr)) != 0),
      started_(Clock::now()),
      drawn_(started_) {}

void Progress::at(double time) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (terminal_ && now - drawn_ < std::chrono::milliseconds(100)) return;
  const double part =
      end_ > begin_ ? std::clamp((time - begin_) / (end_ - begin_), 0.0, 1.0) : 1;
  const int tenths = static_cast<int>(10 * part);
  // Progress lines: not of a run that is over in a moment.
  if (!terminal_ && (tenths <= tenths_ || now - drawn_ < std::chrono::seconds(1))) return;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const double left = part > 0 ? elapsed * (1 - part) / part : 0;
  const double pace = elapsed > 0 ? (time - begin_) / elapsed : 0;
  if (terminal_) {
    constexpr int width = 30;
    const int full = static_cast<int>(width * part);
    tell("\r[{}{}] {:3.0f} %  {:.4g} of {:.4g} s, {:.3g} × real time, {} left   ",
         std::string(static_cast<std::size_t>(full), '#'),
         std::string(static_cast<std::size_t>(width - full), '.'), 100 * part, time, end_,
         pace, duration_text(left));
    bar_ = true;
  } else if (tenths < 10) {
    tell("{:3.0f} %: {:.4g} of {:.4g} s, {:.3g} × real time, {} left\n", 100 * part, time,
         end_, pace, duration_text(left));
  }
  std::fflush(stderr);
  drawn_ = now;
  tenths_ = tenths;
}

void Progress::done() {
  if (bar_) tell("\r{:90}\r", "");
  bar_ = false;
}

}  // namespace bristle::cli
