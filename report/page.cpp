#include "report/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "files/file_out.hpp"
#include "report/svg.hpp"

namespace bristle::report {

namespace {

constexpr std::string_view data_mark = "<!--data-->";
constexpr std::string_view title_mark = "<title>Bristle</title>";

/// Texts after each other, compressed as one.
std::string gzipped(std::initializer_list<std::string_view> texts) {
  z_stream stream{};
  constexpr int level = 6, gzip_format = 15 + 16, memory = 8;
  if (deflateInit2(&stream, level, Z_DEFLATED, gzip_format, memory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return {};
  }
  std::string out;
  char part[1 << 16];
  int status = Z_OK;
  const auto feed = [&](std::string_view text, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(part);
      stream.avail_out = sizeof part;
      status = deflate(&stream, flush);
      out.append(part, sizeof part - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  // In pieces, since zlib counts in 32 bits.
  constexpr std::size_t most = 1U << 30;
  for (std::string_view text : texts) {
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), most))) {
      feed(text.substr(0, most), Z_NO_FLUSH);
    }
  }
  feed({}, Z_FINISH);
  deflateEnd(&stream);
  return status == Z_STREAM_END ? out : std::string();
}

std::string base64(std::string_view bytes) {
  constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= have ? letters[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

}  // namespace

template <class T>
Json PageData::add(const char* type, std::span<const T> numbers) {
  const std::size_t at = body_.size();
  body_.resize(at + numbers.size_bytes());
  const char* bytes = reinterpret_cast<const char*>(numbers.data());
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      body_[at + k * numbers.size() + i] = bytes[i * sizeof(T) + k];
    }
  }
  return {{"type", type}, {"at", at}, {"count", numbers.size()}};
}

template Json PageData::add(const char*, std::span<const float>);
template Json PageData::add(const char*, std::span<const double>);
template Json PageData::add(const char*, std::span<const std::uint32_t>);
template Json PageData::add(const char*, std::span<const std::uint8_t>);

std::string PageData::packed() const {
  // Names come from files; what is not UTF-8 in them is replaced.
  const std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string length;
  for (int k = 0; k < 4; ++k) length += static_cast<char>(text.size() >> (8 * k) & 255);
  return gzipped({length, text, body_});
}

std::optional<Error> write_page(const PageData& data, std::string_view title,
                                const std::string& path) {
  const std::string_view page = empty_page();
  if (page.empty()) return Error{std::string(no_pages)};
  const std::size_t title_at = page.find(title_mark), data_at = page.find(data_mark);
  const std::string packed = data.packed();
  if (packed.empty()) return Error{path + ": its data could not be compressed"};
  std::string text(page.substr(0, title_at));
  text += "<title>" + escaped(title) + "</title>";
  text +=
      page.substr(title_at + title_mark.size(), data_at - title_at - title_mark.size());
  text += R"(<script type="application/octet-stream" id="data">)" + base64(packed);
  text += "</script>";
  text += page.substr(data_at + data_mark.size());
  auto error = files::write_file(text, path);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);  // an old one would show another run
  }
  return error;
}

}  // namespace bristle::report
