#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"
#include "cli/settings.hpp"
#include "identify/fit.hpp"
#include "identify/force_model.hpp"

namespace bristle::cli {

/// What `bristle fit` was asked for.
struct FitWish {
  std::string kind, data, law;
  std::vector<std::string> free;  // names, apart by commas
  Settings fixed;                 // name=value
  Settings starts_at;             // name=value
  Settings columns;               // name=column
  std::string shape;
  std::optional<double> radius;
  std::string scene;
  identify::Window window;
  std::string contact_point = "joint";
  std::string loss = "squares";
  std::vector<std::string> compare;  // laws, apart by commas
  int substeps = 16;                 // of a friction law between two rows
  identify::FitOptions options;
  std::string out;
  bool json = false;
};

/// Something to fit: the data under one law.
struct FitSetup {
  std::string law;                  // as typed
  const LawEntry* entry = nullptr;  // none of a constant or a scene
  std::unique_ptr<identify::Model> model;
  std::string about;  // the shape of the bodies, the scene
};

/// Names that stand apart by commas.
std::vector<std::string> split_commas(const std::vector<std::string>& lists);

/// What --column says: the columns that stand for others.
identify::ColumnNames names_of(const Settings& columns);

/// The laws that are asked for, the one of --law first.
Result<std::vector<std::string>> laws_of_wish(const FitWish& wish);

/// The data, read once.
Result<identify::Table> read_fit_data(const FitWish& wish);

/// The model of one law. Names in the wish that this law does not know are left out where
/// several laws are compared, and another knows them.
Result<FitSetup> set_up(const FitWish& wish, const identify::Table& table,
                        const std::string& law, std::vector<std::string>& known);

/// A name of the wish that no law knows: what is wrong, or nothing.
std::string unknown_name(const FitWish& wish, const std::vector<std::string>& known,
                         const std::string& law);

}  // namespace bristle::cli
