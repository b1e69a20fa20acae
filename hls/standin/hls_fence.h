// Stand-in for Vitis' hls_fence.h: keeps accesses on both sides of it in the order of the source, which C++ does
// anyway. The arguments are the pointers, arrays, streams and references whose accesses it orders.
#pragma once
#include <initializer_list>

namespace hls {

struct fenced {
    template <typename T> fenced(const T &) {}
};
template <typename... T> void fence(T &&...) {}
// The accesses to the second list stay behind those to the first.
inline void fence(std::initializer_list<fenced>, std::initializer_list<fenced>) {}

}  // namespace hls
