#include "studies/study.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bristle/laws/catalogue.hpp"
#include "studies/clock.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

Values::Values(std::span<const Parameter> parameters, std::vector<double> values,
               std::map<std::string, std::string, std::less<>> texts)
    : parameters_(parameters), values_(std::move(values)), texts_(std::move(texts)) {
  as_published_ = texts_.empty();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const double preset = parameters_[i].preset;
    const bool kept =
        values_[i] == preset || (std::isnan(values_[i]) && std::isnan(preset));
    if (!kept && !is_of_clock(parameters_[i].name)) as_published_ = false;
  }
}

std::size_t Values::place(std::string_view name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [name](const Parameter& p) { return p.name == name; });
  if (found == parameters_.end()) std::abort();  // a study asks for what it did not list
  return static_cast<std::size_t>(found - parameters_.begin());
}

std::string_view Values::choice(std::string_view name) const {
  const std::size_t i = place(name);
  return parameters_[i].choices[static_cast<std::size_t>(values_[i])];
}

std::string Values::text(std::string_view name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::string() : found->second;
}

Values Values::with(std::string_view name, double value) const {
  std::vector<double> changed = values_;
  changed[place(name)] = value;
  return {parameters_, std::move(changed), texts_};
}

void Values::resolve(std::string_view name, double value) {
  values_[place(name)] = value;
}

std::span<const Study> all_studies() {
  static const std::vector<Study> studies{
      gonthier2004_damping_factor(),
      gonthier2004_impact(),
      gonthier2004_stick_slip(),
      gonthier2004_inclined_plane(),
      gonthier2004_cylinder(),
      gonthier2004_double_pendulum(),
      gonthier2004_pendulum_impact(),
      azad2010_impact(),
      azad2010_recovery(),
      azad2010_bounce(),
      azad2010_rolling(),
      azad2014_restitution(),
      azad2014_bounce(),
      azad2014_materials(),
      peiret_wheel(),
      peiret_sphere(),
      peiret_incline(),
      peiret_table(),
      peiret_bound_iteration(),
      boos2013_stiffness(),
      boos2013_patch(),
      boos2013_impact(),
      boos2013_rolling(),
      boos2013_sphere_test(),
      boos2013_cylinder_test(),
      boos2013_damping(),
      gonthier_spin(),
  };
  return studies;
}

Result<const Study*> find_study(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Study& study : all_studies()) {
    if (study.name == name) return &study;
    names.push_back(study.name);
  }
  std::string message = "there is no study \"";
  message += name;
  const std::string_view close = nearest(name, names);
  message += close.empty() ? "\"." : "\"; did you mean \"";
  if (!close.empty()) {
    message += close;
    message += "\"?";
  }
  message += " `bristle study list` names them all.";
  return Error{message};
}

std::string_view citation(std::string_view paper) {
  if (paper == "gonthier2004") {
    return "Gonthier, McPhee, Lange & Piedbœuf 2004, A regularized contact model with "
           "asymmetric damping and dwell-time dependent friction";
  }
  if (paper == "azad2010") {
    return "Azad & Featherstone 2010, Modeling the contact between a rolling sphere and "
           "a "
           "compliant ground plane";
  }
  if (paper == "azad2014") {
    return "Azad & Featherstone 2014, A new nonlinear model of contact normal force";
  }
  if (paper == "boos2013") {
    return "Boos & McPhee 2013, Volumetric modeling and experimental validation of "
           "normal contact dynamic forces";
  }
  if (paper == "gonthier") {
    return "Gonthier, McPhee, Lange & Piedbœuf 2005, A contact modeling method based on "
           "volumetric properties; Gonthier 2007, Contact dynamics modelling for robotic "
           "task simulation";
  }
  return "Peiret, Kövecses & Font-Llagunes, The bristle friction model in a linear "
         "complementarity formulation for multibody systems with contacts";
}

}  // namespace bristle::studies
