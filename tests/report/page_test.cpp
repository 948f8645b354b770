#include "report/page.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>

namespace bristle::report {
namespace {

std::string unzipped(const std::string& bytes) {
  std::string out(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(PageData, UnpacksToWhatWasPutIn) {
  PageData data;
  const std::vector<double> numbers{1, -2.5, std::numbers::pi};
  const std::vector<float> floats{0.5f, 3e38f};
  data.head["floats"] = data.add(floats);
  data.head["numbers"] = data.add(numbers);
  data.head["name"] = "caf\xc3\xa9 \xff";  // the last byte is not UTF-8

  const std::string all = unzipped(data.packed());
  std::uint32_t length = 0;
  std::memcpy(&length, all.data(), 4);
  const Json head = Json::parse(all.substr(4, length));
  EXPECT_EQ(head["name"], "caf\xc3\xa9 \xef\xbf\xbd");
  EXPECT_EQ(head["numbers"]["type"], "f64");
  EXPECT_EQ(head["numbers"]["count"], numbers.size());
  const std::size_t at = 4 + length + head["numbers"]["at"].get<std::size_t>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    char bytes[sizeof(double)];
    for (std::size_t k = 0; k < sizeof bytes; ++k) {
      bytes[k] = all[at + k * numbers.size() + i];
    }
    EXPECT_EQ(std::memcmp(bytes, &numbers[i], sizeof bytes), 0) << i;
  }
}

TEST(WritePage, PutsTitleAndDataIn) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "bristle-page";
  const std::string path = (folder / "report.html").string();
  PageData data;
  data.head["kind"] = "nothing";
  const auto error = write_page(data, "a < b & c", path);
  if (empty_page().empty()) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->message, no_pages);
    return;
  }
  ASSERT_FALSE(error) << error->message;
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("<title>a &lt; b &amp; c</title>"), std::string::npos);
  EXPECT_NE(text.find(R"(id="data">H4sI)"), std::string::npos);  // gzip in base64
  EXPECT_GT(text.size(), empty_page().size());
  std::filesystem::remove_all(folder);
}

TEST(WritePage, SaysWhatItCannotWrite) {
  const std::string folder = "/proc/nowhere";
  const auto error = write_page({}, "", folder + "/report.html");
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find(empty_page().empty() ? no_pages : folder),
            std::string::npos);
}

}  // namespace
}  // namespace bristle::report
