#include "fir.h"

static void load(const float *in, hls::stream<float> &samples, int n)
{
    for (int i = 0; i < n; i++) {
#pragma HLS PIPELINE II = 1
        samples.write(in[i]);
    }
}

// A sample a cycle: the last TAPS samples are registers, all of them multiplied side by side.
static void filter(const float *taps, hls::stream<float> &samples, hls::stream<float> &results, int n)
{
    float tap[TAPS], last[TAPS];
#pragma HLS ARRAY_PARTITION variable = tap complete
#pragma HLS ARRAY_PARTITION variable = last complete
    for (int k = 0; k < TAPS; k++) {
        tap[k] = taps[k];
        last[k] = 0;
    }
    for (int i = 0; i < n; i++) {
#pragma HLS PIPELINE II = 1
        for (int k = TAPS - 1; k > 0; k--) last[k] = last[k - 1];
        last[0] = samples.read();
        float sum = 0;
        for (int k = 0; k < TAPS; k++) sum += tap[k] * last[k];
        results.write(sum);
    }
}

static void store(hls::stream<float> &results, float *out, int n)
{
    for (int i = 0; i < n; i++) {
#pragma HLS PIPELINE II = 1
        out[i] = results.read();
    }
}

extern "C" void fir(const float *in, const float *taps, float *out, int n)
{
#pragma HLS INTERFACE m_axi port = in bundle = gmem0
#pragma HLS INTERFACE m_axi port = taps bundle = gmem1
#pragma HLS INTERFACE m_axi port = out bundle = gmem2
    hls::stream<float> samples, results;
#pragma HLS STREAM variable = samples depth = 32
#pragma HLS STREAM variable = results depth = 32
#pragma HLS DATAFLOW
    load(in, samples, n);
    filter(taps, samples, results, n);
    store(results, out, n);
}
