// Stand-in for Vitis' hls_math.h: the functions of the host's C library under their HLS names.
// Vitis' own are correct to within an ulp or a few; + - * / sqrt and fma are equal to the bit.
#pragma once
#include <cmath>

namespace hls {
using std::abs; using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan;
using std::atan2; using std::atanh; using std::cbrt; using std::ceil; using std::copysign; using std::cos;
using std::cosh; using std::erf; using std::erfc; using std::exp; using std::exp2; using std::expm1;
using std::fabs; using std::floor; using std::fma; using std::fmax; using std::fmin; using std::fmod;
using std::hypot; using std::isfinite; using std::isinf; using std::isnan; using std::ldexp;
using std::lgamma; using std::log; using std::log10; using std::log1p; using std::log2;
using std::nextafter; using std::pow; using std::remainder; using std::rint; using std::round;
using std::signbit; using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh;
using std::tgamma; using std::trunc;
}  // namespace hls
