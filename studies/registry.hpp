#pragma once

#include "studies/study.hpp"

// One function per study, each in a file of its name; all_studies() lists what they say.

namespace bristle::studies {

Study gonthier2004_damping_factor();
Study gonthier2004_impact();
Study gonthier2004_stick_slip();
Study gonthier2004_inclined_plane();
Study gonthier2004_cylinder();
Study gonthier2004_double_pendulum();
Study gonthier2004_pendulum_impact();
Study azad2010_impact();
Study azad2010_bounce();
Study azad2010_recovery();
Study azad2010_rolling();
Study azad2014_restitution();
Study azad2014_bounce();
Study azad2014_materials();
Study peiret_wheel();
Study peiret_sphere();
Study peiret_incline();
Study peiret_table();
Study peiret_bound_iteration();
Study boos2013_stiffness();
Study boos2013_patch();
Study boos2013_impact();
Study boos2013_rolling();
Study boos2013_sphere_test();
Study boos2013_cylinder_test();
Study boos2013_damping();
Study gonthier_spin();

}  // namespace bristle::studies
