// C's mathematical functions that expressions may call, from the library that FT_MATH names: std or hls.
using FT_MATH::acos; using FT_MATH::acosh; using FT_MATH::asin; using FT_MATH::asinh; using FT_MATH::atan;
using FT_MATH::atan2; using FT_MATH::atanh; using FT_MATH::cbrt; using FT_MATH::ceil; using FT_MATH::copysign;
using FT_MATH::cos; using FT_MATH::cosh; using FT_MATH::erf; using FT_MATH::erfc; using FT_MATH::exp; using
FT_MATH::exp2; using FT_MATH::expm1; using FT_MATH::fabs; using FT_MATH::floor; using FT_MATH::fma; using
FT_MATH::fmax; using FT_MATH::fmin; using FT_MATH::fmod; using FT_MATH::frexp; using FT_MATH::hypot; using
FT_MATH::ldexp; using FT_MATH::lgamma; using FT_MATH::log; using FT_MATH::log10; using FT_MATH::log1p; using FT_MATH::log2; using
FT_MATH::nextafter; using FT_MATH::pow; using FT_MATH::rint; using FT_MATH::sin; using FT_MATH::sinh; using
FT_MATH::sqrt; using FT_MATH::tan; using FT_MATH::tanh; using FT_MATH::tgamma; using FT_MATH::trunc; using
FT_MATH::remainder;
