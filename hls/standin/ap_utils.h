// Stand-in for Vitis' ap_utils.h: waits of some cycles, which do nothing in C++.
#pragma once
#include <cstdint>

#include <ap_int.h>

static inline void ap_wait() {}
static inline void ap_wait_n(int) {}
#define ap_wait_until(condition)                                                                              \
    static_assert(sizeof(condition) == 0, "ap_wait_until has no stand-in: nothing changes while the kernel waits; " \
                                          "name Vitis' headers in FTENSOR_VITIS_INCLUDE")
