// Parts of a stage that transforms rows (discrete Fourier transform), one beat of complex numbers per cycle
// (kernels/transform.py), as in hls/vitis/transform.h. A row has 2^bits beats of 2^lane_bits lanes.

static inline ft_cfloat ft_select(bool first, ft_cfloat x, ft_cfloat y)
{
    const ft_cfloat r = {first ? x.re : y.re, first ? x.im : y.im};
    return r;
}

// Reverses the lowest `bits` bits of a number.
static inline int ft_reversed(int x, int bits)
{
    int y = 0;
    FT_UNROLL
    for (int bit = 0; bit < bits; bit++) y |= ((x >> bit) & 1) << (bits - 1 - bit);
    return y;
}

// Exchanges halves between a beat and the one `delay` later: their first halves become the earlier beat, which
// leaves `delay` beats after it entered; their second halves become the later beat.
static inline $beat ft_crossed(
    $beat x, ft_cfloat (*second)[LANES / 2], ft_cfloat (*first)[LANES / 2], int beat, int delay)
{
    const int at = beat % delay;
    const bool later = (beat & delay) != 0;
    $beat y;
    FT_UNROLL
    for (int l = 0; l < LANES / 2; l++) {
        const ft_cfloat low = x.lane[l], high = second[at][l];
        y.lane[l] = first[at][l];
        y.lane[LANES / 2 + l] = ft_select(later, low, high);
        second[at][l] = x.lane[LANES / 2 + l];
        first[at][l] = ft_select(later, high, low);
    }
    return y;
}

// Butterflies between the halves of a beat, by a row of roots.
static inline $beat ft_butterflies($beat x, const ft_cfloat (*roots)[LANES / 2], int row)
{
    $beat y;
    FT_UNROLL
    for (int l = 0; l < LANES / 2; l++) {
        const ft_cfloat a = x.lane[l], c = x.lane[LANES / 2 + l], root = roots[row][l];
        const ft_cfloat apart = {a.re - c.re, a.im - c.im};
        y.lane[l].re = a.re + c.re;
        y.lane[l].im = a.im + c.im;
        y.lane[LANES / 2 + l].re = apart.re * root.re - apart.im * root.im;
        y.lane[LANES / 2 + l].im = apart.re * root.im + apart.im * root.re;
    }
    return y;
}

// Butterflies of numbers 1 or 2 lanes apart, whose roots are 1 and -i.
static inline $beat ft_lane_butterflies($beat x, int lanes_apart)
{
    $beat y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        const ft_cfloat a = x.lane[l & ~lanes_apart], c = x.lane[l | lanes_apart];
        const ft_cfloat sum = {a.re + c.re, a.im + c.im}, apart = {a.re - c.re, a.im - c.im};
        const ft_cfloat turned = {apart.im, -apart.re};
        const ft_cfloat other = ft_select((l & (lanes_apart - 1)) != 0, turned, apart);
        y.lane[l] = ft_select((l & lanes_apart) == 0, sum, other);
    }
    return y;
}

// Moves lane l ^ by to lane l.
static inline $beat ft_exchanged($beat x, int by)
{
    $beat y = x;
    FT_UNROLL
    for (int bit = 1; bit < LANES; bit *= 2) {
        $beat z;
        FT_UNROLL
        for (int l = 0; l < LANES; l++) z.lane[l] = ft_select((by & bit) != 0, y.lane[l ^ bit], y.lane[l]);
        y = z;
    }
    return y;
}

// Returns the numbers of a row in order, one row later. After the last butterflies, a number's position is its
// index with the bits reversed, except that the lowest bit of the beat has become the highest. Each lane has a
// memory of its own. The numbers of one beat must come from, and go to, different memories, so numbers are
// stored in rotated lanes.
static inline $beat ft_sorted(
    $beat x, ft_cfloat (*kept)[BEATS][LANES], int beat, int odd, int bits, int lane_bits)
{
    const int at = bits ? ((beat << 1) | (beat >> (bits ? bits - 1 : 0))) & (BEATS - 1) : 0;
    const $beat come = ft_exchanged(x, ft_reversed(at, bits) & (LANES - 1));
    const int from = ft_reversed(beat, bits) & (LANES - 1);
    $beat gone, y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        kept[odd][at][l] = come.lane[l];
        gone.lane[l] = kept[!odd][ft_reversed(((beat << lane_bits) | (l ^ from)) & (BEATS - 1), bits)][l];
    }
    const $beat turned = ft_exchanged(gone, from);
    // In rows with fewer beats than lanes, some index bits select a lane both before and after the reordering.
    const int alone = lane_bits > bits ? bits : lane_bits;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        const int low = l & ((1 << alone) - 1), high = ft_reversed(l >> alone, lane_bits - alone) << alone;
        y.lane[l] = turned.lane[low | high];
    }
    return y;
}

// Exchanges real and imaginary parts. Before and after a forward transform, this makes it the inverse one.
static inline $beat ft_parts_exchanged($beat x)
{
    $beat y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        y.lane[l].re = x.lane[l].im;
        y.lane[l].im = x.lane[l].re;
    }
    return y;
}

static inline $beat ft_scaled($beat x, float by)
{
    $beat y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        y.lane[l].re = x.lane[l].re * by;
        y.lane[l].im = x.lane[l].im * by;
    }
    return y;
}
