// Stand-in for Vitis' hls_print.h: prints a line with at most one number.
#pragma once
#include <cstdio>

namespace hls {

inline void print(const char *text) { std::fputs(text, stdout); }
inline void print(const char *format, int x) { std::printf(format, x); }
inline void print(const char *format, double x) { std::printf(format, x); }
template <typename T> void print(const char *, const T &)
{
    static_assert(sizeof(T) == 0, "hls::print takes an int or a double");
}

}  // namespace hls
