// Stages of a DATAFLOW region: v++ makes each call a process. g++ runs each in a thread if its stand-in for
// hls_stream.h supports it (region.h), else one after the other. Sources include this file first.
#pragma once
#define FT_AT_ONCE 1
#include <hls_stream.h>

#if defined(FT_REGIONS) && !defined(__SYNTHESIS__)
#define FT_REGION hls::region ft_region;
#define FT_PROCESS(...) ft_region.process([&] { __VA_ARGS__; });
#define FT_JOIN ft_region.join();
#else
#define FT_REGION
#define FT_PROCESS(...) __VA_ARGS__;
#define FT_JOIN
#endif
