// A finite impulse response filter: out[i] = sum of taps[k] * in[i - k], with zeros before the first.
#pragma once
#include <hls_stream.h>

constexpr int TAPS = 16;

extern "C" void fir(const float *in, const float *taps, float *out, int n);
