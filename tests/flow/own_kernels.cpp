// User kernels for test_own_headers.py: each feature of Vitis' headers that users need.
#include <etc/ap_utils.h>  // first: it must not bring the stand-in of ap_int.h
#include <ap_axi_sdata.h>
#include <ap_fixed.h>
#include <ap_int.h>
#include <ap_shift_reg.h>
#include <hls_burst_maxi.h>
#include <hls_fence.h>
#include <hls_math.h>
#include <hls_stream.h>
#include <hls_streamofblocks.h>
#include <hls_vector.h>

#include <cstdint>
#include <vector>

typedef ap_uint<256> wide;

template <typename T> static T loaded(const uint64_t *from)
{
    T x = 0;
    for (int k = 0; k < T::width / 64; k++) x.range(64 * k + 63, 64 * k) = from[k];
    return x;
}
template <typename T> static void stored(uint64_t *&to, const T &x)
{
    const ap_uint<1024> all = x;  // signed ones are extended
    for (int k = 0; k < 16; k++) *to++ = all.range(64 * k + 63, 64 * k).to_uint64();
}

// From two numbers of 256 bits and two bit positions to results of 1024 bits.
extern "C" void integers(const uint64_t *in, int high, int low, uint64_t *out)
{
    const wide a = loaded<wide>(in), b = loaded<wide>(in + 4);
    const ap_int<256> s = a, t = b;
    ap_uint<512> both = (a, b);
    stored(out, both);
    stored(out, ap_uint<257>((a[high], b)));
    stored(out, ap_uint<256>(a.range(high, low)));
    wide changed = a;
    changed(high, low) = b;
    stored(out, changed);
    changed = a;
    changed[high] = !a[high];
    changed[low] = b[high];
    stored(out, changed);
    stored(out, a + b);
    stored(out, a - b);
    stored(out, s * t);
    stored(out, a * t);
    stored(out, ~a);
    stored(out, -s);
    stored(out, s >> low);
    stored(out, a << low);
    stored(out, wide(a.xor_reduce()));
    stored(out, wide((s < t) | (a < b) << 1));
    stored(out, ap_int<32>(s.to_int()));
    stored(out, ap_int<64>(s.to_int64()));
    ap_uint<7> small = a;
    stored(out, ap_int<16>(3 - small));
    stored(out, ap_int<9>(ap_int<7>(small) / 3));
}

template <ap_q_mode Q, ap_o_mode O> static void fixed(int16_t *&out)
{
    for (int raw = -8192; raw < 8192; raw++) {
        ap_fixed<14, 7> x;
        x.range() = raw;
        ap_fixed<8, 4, Q, O> y = x;
        ap_ufixed<8, 4, Q, O> u = x;
        *out++ = ap_int<8>(y.range());
        *out++ = ap_uint<8>(u.range());
    }
}
template <ap_q_mode Q> static void each_overflow(int16_t *&out)
{
    fixed<Q, AP_SAT>(out), fixed<Q, AP_SAT_ZERO>(out), fixed<Q, AP_SAT_SYM>(out), fixed<Q, AP_WRAP>(out);
}
extern "C" void each_mode(int16_t *out)
{
    each_overflow<AP_RND>(out), each_overflow<AP_RND_ZERO>(out), each_overflow<AP_RND_MIN_INF>(out);
    each_overflow<AP_RND_INF>(out), each_overflow<AP_RND_CONV>(out), each_overflow<AP_TRN>(out);
    each_overflow<AP_TRN_ZERO>(out);
}

typedef ap_axiu<24, 2, 0, 0> beat;
static_assert(beat::bytes == 3 && hls::axis<float>::bytes == 4, "");
// Only channels with names.
typedef hls::axis_user<13, AXIS_ENABLE_USER | AXIS_ENABLE_LAST> tag;
typedef hls::axis_data<ap_uint<20>, AXIS_ENABLE_LAST | AXIS_ENABLE_KEEP | AXIS_ENABLE_DEST, 0, 0, 4> part;
static_assert(!tag::has_data && tag::has_user && tag::has_last && !tag::has_keep && !tag::has_strb, "");
static_assert(part::has_data && part::has_keep && part::has_dest && !part::has_strb && !part::has_user, "");
static_assert(beat::has_keep && beat::has_strb && beat::has_last && !ap_axiu<8, 0, 0, 0, AXIS_ENABLE_LAST>::has_keep, "");
static_assert(qdma_axis<32, 0, 0, 0>::has_keep && !qdma_axis<32, 0, 0, 0>::has_strb, "");
static_assert(sizeof(hls::burst_maxi<int>) == sizeof(int *), "");

static void fill(hls::stream_of_blocks<int[4]> &to, int from)
{
    hls::write_lock<int[4]> block(to);
    for (int k = 0; k < 4; k++) block[k] = from + k;
}
extern "C" int parts(hls::burst_maxi<int> port)
{
    hls::stream<beat> stream("beats");
    for (int k = 0; k < 3; k++) {
        beat x;
        x.data = -1 - k;
        x.keep = -1, x.strb = -1, x.user = k, x.last = k == 2;
        stream << x;
    }
    int wrong = 0;
    for (int k = 0; k < 3; k++) {
        const beat x = stream.read();
        wrong += x.data != 0xffffff - k || x.keep != 7 || x.user != k || x.get_last() != (k == 2);
    }
    tag t;
    t.set_user(5000), t.last = 1;
    part p;
    p.data = 0xabcde, p.dest = 9, p.keep_all();
    wrong += t.user != 5000 || !t.get_last() || p.get_data() != 0xabcde || p.get_dest() != 9 || p.keep != 7;
    port.read_request(1, 2), port.read_request(0, 1);  // two of them under way
    port.write_request(4, 2);
    for (int k = 0; k < 2; k++) port.write(port.read() * 10);
    port.write_response();
    wrong += port.read() != 1;
    hls::stream_of_blocks<int[4], 2> blocks;
    fill(blocks, 5), fill(blocks, 9);
    for (int first = 5; first < 10; first += 4) {
        hls::read_lock<int[4]> block(blocks);
        const int(&elements)[4] = block;
        wrong += elements[0] != first || block[3] != first + 3;
    }
    ap_shift_reg<int, 3> line;
    for (int k = 0; k < 3; k++) line.shift(k);
    wrong += !blocks.empty() || line.read(2) != 0 || line.shift(7) != 0;
    wrong += (hls::vector<int, 4>{1, 2, 3, 4} * 2 + 1).reduce_add() != 24;
    return wrong + (hls::vector<int, 4>{6, 2, 3, 7}.reduce_and() != 2);
}

// Returns the number of vector elements with a wrong value.
extern "C" int vectors()
{
    typedef hls::vector<int, 4> four;
    four x{1, 2, 3, 4}, y = [](int k) { return k == 2 ? 0 : k + 1; };
    int wrong = (x == y) + !(x != y) + (x < y) + (x <= y) + !(x > y) + !(x >= y) + !(x == four::iota(1));
    wrong += !(x <= x) + (x < x) + (++x != four{2, 3, 4, 5}) + (x-- != four::iota(2)) + (x != four::iota(1));
    int sum = 0;
    for (int element : x) sum += element;
    wrong += sum != 10 || *x.rbegin() != 4 || x.empty() || x.max_size() != 4;
    wrong += four(std::array<int, 4>{4, 3, 2, 1}).reduce_mult() != 24 || int(hls::vector<int, 1>(7)) != 7;
    // From the first to the last: the other order gives 1.
    return wrong + (hls::vector<float, 3>{1, 1e8f, -1e8f}.reduce_add() != 0);
}

struct pixel {
    uint8_t red, green, blue;
};
// Moves n pixels through a wide port, four and then one at a time, to where the port is not aligned.
extern "C" void pixels(hls::burst_maxi<ap_uint<64>> from, hls::burst_maxi<ap_uint<64>> to, int n)
{
    typedef hls::vector<pixel, 4> group;
    bool done = false;
    from.read_request_unaligned<group>(0, n / 4), to.write_request_unaligned<group>(3, n / 4);
    from.read_request_unaligned<pixel>(n / 4 * sizeof(group), n % 4);
    to.write_request_unaligned<pixel>(3 + n / 4 * sizeof(group), n % 4);
    for (int k = 0; k < n / 4; k++) to.write<group>(from.read<group>());
    to.write_response();
    hls::fence(to, done);
    for (int k = 0; k < n % 4; k++) to.write<pixel>(from.read<pixel>());
    hls::fence({from, to}, {done, n});
    to.write_response();
}
