// Weights that a launch passes and that stay in the kernel's memories for later launches. One process reads
// them from the port and sends them through all processes with weights. Each keeps its own and passes the rest
// on. A word has two numbers of 32 bits. The first word is the number of words that follow: 0 if the memories
// already hold these weights.
//
// The functions are `static`, and so are their memories, which therefore keep their contents between launches.
// TAG is the layer's number: it gives layers of equal shapes separate memories.
#pragma once
#include "network_ports.h"

typedef ft_beat<int, 2> ft_word;

// Reads weights unless the memories already hold them. The first beat of the port has their SHA-256, then two
// checksums of the words. The digest is stored only after all words were sent and matched the checksums. So
// memories that are filled in part, or from a buffer that another program has overwritten, have no digest.
template <int WORDS> static void load_weights(const hls::vector<int, 16> *port, hls::stream<ft_word> &to, long offset)
{
    static int kept[8];
#pragma HLS ARRAY_PARTITION variable=kept complete
    const hls::vector<int, 16> *from = port + offset / 16;
    const hls::vector<int, 16> digest = from[0];
    const int wanted = digest[8], wanted_too = digest[9];
    bool same = true;
    for (int k = 0; k < 8; k++) {
#pragma HLS UNROLL
        const int one = digest[k];
        if (one != kept[k]) same = false;
        kept[k] = 0;
    }
    const int words = same ? 0 : WORDS;
    ft_word count;
    count.at[0] = words;
    count.at[1] = 0;
    to.write(count);
    hls::vector<int, 16> held{};
    unsigned int sum = 0, sums = 0;
load_weights:
    for (int v = 0; v < words; v++) {
#pragma HLS PIPELINE II=1
        if (v % 8 == 0) held = from[1 + v / 8];
        ft_word w;
        w.at[0] = held[0];
        w.at[1] = held[1];
        sum += (unsigned int)w.at[0];
        sums += sum + (unsigned int)w.at[1];
        for (int l = 0; l < 14; l++) held[l] = held[l + 2];
        to.write(w);
    }
    for (int k = 0; k < 8; k++) {
#pragma HLS UNROLL
        if (same || ((int)sum == wanted && (int)sums == wanted_too)) kept[k] = digest[k];
    }
}

// Reads the count of words, subtracts the MINE words of this process, and passes the rest on. Returns true if
// words follow.
template <int MINE> static bool weights_come(hls::stream<ft_word> &from, hls::stream<ft_word> &to, int &rest)
{
#pragma HLS INLINE
    ft_word count = from.read();
    const bool come = count.at[0] > 0;
    rest = come ? count.at[0] - MINE : 0;
    count.at[0] = rest;
    to.write(count);
    return come;
}

// Passes on the words of later processes.
static inline void pass_weights(hls::stream<ft_word> &from, hls::stream<ft_word> &to, int rest)
{
#pragma HLS INLINE
pass_weights:
    for (int v = 0; v < rest; v++) {
#pragma HLS PIPELINE II=1
        to.write(from.read());
    }
}

// Passes on all words, in a kernel without weights of its own.
static inline void pass_all_weights(hls::stream<ft_word> &from, hls::stream<ft_word> &to)
{
    int rest;
    if (weights_come<0>(from, to, rest)) pass_weights(from, to, rest);
}

// Ends the chain of processes with weights.
static inline void end_weights(hls::stream<ft_word> &from) { from.read(); }

// The element k of a word's elements, and the number in its first half.
static inline void unpack(const ft_word &word, int k, signed char &to) { to = (signed char)(word.at[k / 4] >> (8 * (k % 4))); }
static inline void unpack(const ft_word &word, int k, int &to) { to = word.at[k]; }
static inline void unpack(const ft_word &word, int k, float &to)
{
    union {
        int bits;
        float value;
    } as;
    as.bits = word.at[k];
    to = as.value;
}

// Reads a layer's initial sums, one word each, then its weights: GROUPS * P filters of STEPS * S elements. UNIT
// is the largest number of elements that divides S and the EACH elements of a word. A cycle unpacks UNIT.
template <int STEPS, int GROUPS, int P, int S, typename W, typename A>
static void fill_weights(
    hls::stream<ft_word> &words, hls::stream<ft_word> &words_on, ft_beat<W, S> (&weights)[P][STEPS * GROUPS],
    A (&begin)[GROUPS][P])
{
#pragma HLS INLINE
    static const int EACH = 8 / sizeof(W);
    static const int UNIT = S % 8 == 0 && EACH == 8 ? 8 : S % 4 == 0 && EACH == 8 ? 4 : S % 2 == 0 ? 2 : 1;
    static const long PIECES = (long)STEPS * GROUPS * P * (S / UNIT);
    static const int MINE = GROUPS * P + (int)((PIECES + EACH / UNIT - 1) / (EACH / UNIT));
    int rest;
    if (!weights_come<MINE>(words, words_on, rest)) return;
    int p = 0, g = 0;
fill_begin:
    for (int o = 0; o < GROUPS * P; o++) {
#pragma HLS PIPELINE II=1
        unpack(words.read(), 0, begin[g][p]);
        const bool ends = p == P - 1;
        p = ends ? 0 : p + 1;
        if (ends) g++;
    }
    W held[EACH];
#pragma HLS ARRAY_PARTITION variable=held complete
    ft_beat<W, S> piece{};
    int part = 0, filled = 0, step = 0, bank = 0, group = 0;
fill_weights:
    for (long v = 0; v < PIECES; v++) {
#pragma HLS PIPELINE II=1
        if (part == 0) {
            const ft_word got = words.read();
            for (int k = 0; k < EACH; k++) unpack(got, k, held[k]);
        }
        for (int s = 0; s < S - UNIT; s++) piece.at[s] = piece.at[s + UNIT];
        for (int u = 0; u < UNIT; u++) piece.at[S - UNIT + u] = held[u];
        for (int k = 0; k < EACH - UNIT; k++) held[k] = held[k + UNIT];
        part = part == EACH / UNIT - 1 ? 0 : part + 1;
        const bool whole = filled == S / UNIT - 1, row = whole && step == STEPS - 1, filters = row && bank == P - 1;
        if (whole) weights[bank][step * GROUPS + group] = piece;
        filled = whole ? 0 : filled + 1;
        if (whole) step = row ? 0 : step + 1;
        if (row) bank = filters ? 0 : bank + 1;
        if (filters) group++;
    }
    pass_weights(words, words_on, rest);
}

// Reads the addend and the factor that requantize each filter's sums, one word per filter.
template <int GROUPS, int P>
static void fill_factors(
    hls::stream<ft_word> &words, hls::stream<ft_word> &words_on, float (&added)[GROUPS][P], float (&factor)[GROUPS][P])
{
#pragma HLS INLINE
    int rest;
    if (!weights_come<GROUPS * P>(words, words_on, rest)) return;
    int p = 0, g = 0;
fill_factors:
    for (int o = 0; o < GROUPS * P; o++) {
#pragma HLS PIPELINE II=1
        const ft_word got = words.read();
        union {
            int bits;
            float value;
        } more, by;
        more.bits = got.at[0];
        by.bits = got.at[1];
        added[g][p] = more.value;
        factor[g][p] = by.value;
        const bool ends = p == P - 1;
        p = ends ? 0 : p + 1;
        if (ends) g++;
    }
    pass_weights(words, words_on, rest);
}
