// Parts of a stage that transforms rows (discrete Fourier transform), one beat of complex numbers per cycle
// (kernels/transform.py). A row has BEATS = 2^$bits beats, a beat LANES = 2^$lane_bits lanes.

// Exchanges halves between a beat and the one `delay` later: their first halves become the earlier beat, which
// leaves `delay` beats after it entered; their second halves become the later beat.
static inline $vector ft_crossed($vector x, $of second[][LANES / 2], $of first[][LANES / 2], int beat, int delay)
{
    FT_INLINE
    const int at = beat % delay;
    const bool later = (beat & delay) != 0;
    $vector y;
    FT_UNROLL
    for (int l = 0; l < LANES / 2; l++) {
        const $of low = x.lane[l], high = second[at][l], out = first[at][l];
        second[at][l] = x.lane[LANES / 2 + l];
        first[at][l] = ft_select(later, high, low);
        y.lane[l] = out;
        y.lane[LANES / 2 + l] = ft_select(later, low, high);
    }
    return y;
}

// Butterflies between the halves of a beat, by a row of roots.
static inline $vector ft_butterflies($vector x, const $of roots[][LANES / 2], int row)
{
    FT_INLINE
    $vector y;
    FT_UNROLL
    for (int l = 0; l < LANES / 2; l++) {
        const $of a = x.lane[l], c = x.lane[LANES / 2 + l], root = roots[row][l];
        const $of sum = {a.re + c.re, a.im + c.im}, apart = {a.re - c.re, a.im - c.im};
        const $of turned = {apart.re * root.re - apart.im * root.im, apart.re * root.im + apart.im * root.re};
        y.lane[l] = sum;
        y.lane[LANES / 2 + l] = turned;
    }
    return y;
}

// Butterflies of numbers 1 or 2 lanes apart, whose roots are 1 and -i.
static inline $vector ft_lane_butterflies($vector x, int lanes_apart)
{
    FT_INLINE
    $vector y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        const $of a = x.lane[l & ~lanes_apart], c = x.lane[l | lanes_apart];
        const $of sum = {a.re + c.re, a.im + c.im}, apart = {a.re - c.re, a.im - c.im}, turned = {apart.im, -apart.re};
        const $of other = ft_select((l & (lanes_apart - 1)) != 0, turned, apart);
        y.lane[l] = ft_select((l & lanes_apart) == 0, sum, other);
    }
    return y;
}

// Moves lane l ^ by to lane l.
static inline $vector ft_exchanged($vector x, int by)
{
    FT_INLINE
    $vector y = x;
    FT_UNROLL
    for (int bit = 0; bit < $lane_bits; bit++) {
        $vector z;
        FT_UNROLL
        for (int l = 0; l < LANES; l++) {
            const $of other = y.lane[l ^ 1 << bit], same = y.lane[l];
            z.lane[l] = ft_select((by >> bit & 1) != 0, other, same);
        }
        y = z;
    }
    return y;
}

// Returns the numbers of a row in order, one row later. After the last butterflies, a number's position is its
// index with the bits reversed, except that the lowest bit of the beat has become the highest. Each lane has a
// memory of its own. The numbers of one beat must come from, and go to, different memories, so numbers are
// stored in rotated lanes.
static inline $vector ft_sorted($vector x, $of kept[2][BEATS][LANES], int beat, int odd)
{
    FT_INLINE
    const int at = $bits ? ((beat << 1) | (beat >> ($bits ? $bits - 1 : 0))) & (BEATS - 1) : 0;
    const $vector come = ft_exchanged(x, ft_reversed(at, $bits) & (LANES - 1));
    const int from = ft_reversed(beat, $bits) & (LANES - 1);
    $vector gone, y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        kept[odd][at][l] = come.lane[l];
        gone.lane[l] = kept[!odd][ft_reversed(((beat << $lane_bits) | (l ^ from)) & (BEATS - 1), $bits)][l];
    }
    const $vector turned = ft_exchanged(gone, from);
    // In rows with fewer beats than lanes, some index bits select a lane both before and after the reordering.
    const int alone = $lane_bits > $bits ? $bits : $lane_bits;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        const int low = l & ((1 << alone) - 1), high = ft_reversed(l >> alone, $lane_bits - alone) << alone;
        const $of out = turned.lane[low | high];
        y.lane[l] = out;
    }
    return y;
}

// Exchanges real and imaginary parts. Before and after a forward transform, this makes it the inverse one.
static inline $vector ft_parts_exchanged($vector x)
{
    FT_INLINE
    $vector y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        y.lane[l].re = x.lane[l].im;
        y.lane[l].im = x.lane[l].re;
    }
    return y;
}

static inline $vector ft_scaled($vector x, $real by)
{
    FT_INLINE
    $vector y;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        y.lane[l].re = x.lane[l].re * by;
        y.lane[l].im = x.lane[l].im * by;
    }
    return y;
}
