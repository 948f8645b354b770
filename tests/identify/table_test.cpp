#include "identify/table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "identify/force_model.hpp"

namespace bristle::identify {
namespace {

Result<Table> parse(std::string_view text, const ColumnNames& names = {}) {
  return parse_csv(text, "data.csv", force_columns(), names);
}

TEST(Table, UnitsStandInTheHeader) {
  const auto table = parse(
      "position_um, force_kN ,time_ms,impact\r\n"
      "# by hand\n"
      "1.5,2e-3,10,0\n"
      "\n"
      "\"2.5\",+3e-3,20,0\n");
  ASSERT_TRUE(table) << table.error();
  EXPECT_EQ(table->rows(), 2u);
  EXPECT_DOUBLE_EQ((*table)["position"][0], 1.5e-6);
  EXPECT_DOUBLE_EQ((*table)["position"][1], 2.5e-6);
  EXPECT_DOUBLE_EQ((*table)["force"][1], 3);
  EXPECT_DOUBLE_EQ((*table)["time"][0], 0.01);
  EXPECT_EQ(table->wrong(1, "force_N", 3, "be less").message,
            "data.csv:5: force_N = \"3\" must be less");
}

TEST(Table, ColumnsMayHaveOtherNames) {
  const auto table = parse("x,load\n1,2\n", {{"position_mm", "x"}, {"force_N", "load"}});
  ASSERT_TRUE(table) << table.error();
  EXPECT_DOUBLE_EQ((*table)["position"][0], 1e-3);
}

TEST(Table, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "data.csv: the file is empty"},
      {"position_m,force_N\n", "data.csv: there are no rows"},
      {"position_m,force_N\n1,2,3\n",
       "data.csv:2: the row = \"1,2,3\" must hold two numbers, as the header"},
      {"position_m,force_N\n1,x\n", "data.csv:2: force_N = \"x\" must be a number"},
      {"position_m,force_N\n1,2\n1,\n", "data.csv:3: force_N = \"\" must be a number"},
      {"position_m,force_N\n1,nan\n", "data.csv:2: force_N = \"nan\" must be a finite"},
      {"position_m,force_N\n1,-inf\n", "must be a finite number"},
      {"position_m,force_N\n1,1e999\n", "must be a number between"},
      {"position_m,forc_N\n1,2\n",
       "unknown column \"forc_N\"; did you mean \"force_N\"?"},
      {"position_in,force_N\n1,2\n",
       "column \"position_in\": unknown unit; it may be "
       "position_m, position_cm, position_mm"},
      {"position,force_N\n1,2\n", "column \"position\": unknown unit"},
      {"position_m\n1\n",
       "there is no column force_N, force_kN, force_mN, force_uN; the "
       "columns are position_m"},
      {"position_m,position_mm,force_N\n1,2,3\n", "two columns are position"},
      {"position_m,force_N,impact\n1,2,0.5\n",
       "impact = \"0.5\" must be a whole number"}};
  for (const auto& [text, message] : cases) {
    const auto table = parse(text);
    ASSERT_FALSE(table) << text;
    EXPECT_NE(table.error().find(message), std::string::npos) << table.error();
  }
}

TEST(Table, TimeMustRiseWithinAnImpact) {
  auto rising = parse("position_m,force_N,time_s,impact\n0,0,1,0\n0,1,2,0\n0,0,1,1\n");
  ASSERT_TRUE(rising) << rising.error();
  EXPECT_TRUE(check_rising(*rising, "time", "impact"));
  auto falling = parse("position_m,force_N,time_s\n0,0,1\n0,1,2\n0,0,2\n");
  const auto wrong = check_rising(*falling, "time");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error(), "data.csv:4: time = \"2\" must be above 2, of the row before");
}

TEST(Table, FilesThatAreNoneAreRefused) {
  EXPECT_FALSE(read_table("/nowhere/data.csv", force_columns()));
  EXPECT_FALSE(read_table("/nowhere/data.h5", force_columns()));
  const auto path = std::filesystem::temp_directory_path() /
                    ("bristle_table_" + std::to_string(::getpid()) + ".h5");
  std::ofstream(path) << "no HDF5 file";
  const auto table = read_table(path.string(), force_columns());
  std::filesystem::remove(path);
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().find("this is no HDF5 file"), std::string::npos);
}

}  // namespace
}  // namespace bristle::identify
