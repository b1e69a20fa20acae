// Jacobi's rotations of two columns, for singular values and eigenvalues. FT_EPS: the spacing of numbers near 1.
// FT_STEP: matrices are scaled by a power of it, at most FT_POWERS, so that squares of their elements neither
// overflow nor underflow. FT_NONE: a column of a smaller sum of squares counts as zeros.
#if FT_DOUBLE
#define FT_EPS ((FT_T)2.220446049250313e-16)
#define FT_STEP ((FT_T)3.402823669209385e38)
#define FT_NONE ((FT_T)1e-270)
#else
#define FT_EPS ((FT_T)1.1920929e-7f)
#define FT_STEP ((FT_T)65536.0f)
#define FT_NONE ((FT_T)1e-30f)
#endif
#define FT_POWERS 7
// Six to ten sweeps are usual.
#define FT_SWEEPS 40

// The larger of a magnitude and those of an element's parts; NaN if one of them is.
FT_FN_ONCE FT_T ft_larger(FT_T most, ft_one x)
{
    const FT_T re = FT_SIZE(ft_re(x)), im = FT_SIZE(ft_im(x)), size = re > im || re != re ? re : im;
    return size > most || size != size ? size : most;
}

// The power of two that scales a matrix whose largest element has the magnitude `most`; 0 if that is infinite or NaN.
FT_FN_ONCE FT_T ft_scale_of(FT_T most)
{
    FT_T scale = most - most == 0 ? 1 : 0;
    FT_LOOP(powers)
    for (int t = 0; t < FT_POWERS; t++) {
        FT_PIPELINE
        if (most * scale >= FT_STEP) {
            scale *= 1 / FT_STEP;
        } else if (most != 0 && most * scale * FT_STEP < 1) {
            scale *= FT_STEP;
        }
    }
    return scale;
}

FT_FN_ONCE ft_one ft_times_real(ft_one x, FT_T scale) { return ft_pair_of(ft_re(x) * scale, ft_im(x) * scale); }

// The magnitude of an element, without a square that underflows.
FT_FN_ONCE FT_T ft_modulus(ft_one x)
{
    const FT_T re = FT_SIZE(ft_re(x)), im = FT_SIZE(ft_im(x));
    const FT_T large = re > im ? re : im, small = re > im ? im : re;
    if (small == 0) return large;
    const FT_T ratio = small / large;
    return large * FT_ROOT(1 + ratio * ratio);
}

// Sums over two columns: |x|^2, |y|^2, conj(x) * y.
typedef struct { FT_T x, y; ft_one both; } ft_sums;

#if FT_LANES > 1
#if FT_COMPLEX
#define FT_COLUMN_SQUARE(x) ((x).re * (x).re + (x).im * (x).im)
#else
#define FT_COLUMN_SQUARE(x) ((x) * (x))
#endif
FT_FN_ONCE FT_T ft_lanes_sum(FT_V v)
{
    FT_T each[FT_LANES], sum = 0;
    FT_LANES_TO(v, each);
    for (int l = 0; l < FT_LANES; l++) sum += each[l];
    return sum;
}
#endif

FT_FN_ONCE ft_sums ft_products(FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *y, int n)
{
    ft_sums sums;
    sums.x = sums.y = 0;
    sums.both = FT_REAL_ONE(0);
    int i = 0;
#if FT_LANES > 1
    if (n >= FT_LANES) {
        FT_V xs = K(0), ys = K(0);
        ft_column both = FT_COLUMN_SAME(sums.both);
        for (; i + FT_LANES <= n; i += FT_LANES) {
            const ft_column v = FT_COLUMN_LOAD(FT_AT(x, i)), w = FT_COLUMN_LOAD(FT_AT(y, i));
            xs += FT_COLUMN_SQUARE(v);
            ys += FT_COLUMN_SQUARE(w);
            both = FT_COLUMN_PLUS(both, FT_COLUMN_CONJ(v, 1), w);
        }
        sums.x = ft_lanes_sum(xs);
        sums.y = ft_lanes_sum(ys);
#if FT_COMPLEX
        sums.both = ft_pair_of(ft_lanes_sum(both.re), ft_lanes_sum(both.im));
#else
        sums.both = ft_lanes_sum(both);
#endif
    }
#endif
    FT_LOOP(products)
    for (; i < n; i++) {
        FT_PIPELINE
        const ft_one v = ft_get(x, i), w = ft_get(y, i);
        sums.x += ft_re(v) * ft_re(v) + ft_im(v) * ft_im(v);
        sums.y += ft_re(w) * ft_re(w) + ft_im(w) * ft_im(w);
        sums.both = ft_plus(sums.both, ft_times(ft_conj(v), w));
    }
    return sums;
}

// The rotation x' = x - conj(sine) (y + tan_half x), y' = y + sine (x - conj(tan_half) y), where tan_half is the
// tangent of half the angle. Most of a column stays as it is, so only the small part that changes is rounded.
typedef struct { FT_T tangent; ft_one sine, tan_half; } ft_rotation;

// The rotation that makes a Hermitian matrix of two rows, with the diagonal (a, b) and `both` above it, diagonal:
// (a - tangent * size, b + tangent * size), by an angle of at most 45 degrees. size: the magnitude of `both`.
FT_FN_ONCE ft_rotation ft_rotation_of(FT_T a, FT_T b, ft_one both, FT_T size)
{
    ft_rotation r;
    const FT_T ratio = (b - a) / (2 * size), far = FT_SIZE(ratio);
    // The square of a large ratio would overflow.
    const FT_T tangent = far > 1 / FT_EPS ? 1 / (2 * far) : 1 / (far + FT_ROOT(1 + far * far));
    r.tangent = ratio < 0 ? -tangent : tangent;
    const FT_T cosine = 1 / FT_ROOT(1 + tangent * tangent), sine = r.tangent * cosine;
    r.sine = ft_pair_of(ft_re(both) / size * sine, ft_im(both) / size * sine);
    r.tan_half = ft_pair_of(ft_re(r.sine) / (1 + cosine), ft_im(r.sine) / (1 + cosine));
    return r;
}

FT_FN_ONCE void ft_rotate_columns(FT_GLOBAL FT_T *x, FT_GLOBAL FT_T *y, ft_rotation r, int n)
{
    int i = 0;
#if FT_LANES > 1
    const ft_column sine = FT_COLUMN_SAME(r.sine), tan_half = FT_COLUMN_SAME(r.tan_half);
    const ft_column sine_conj = FT_COLUMN_CONJ(sine, 1), tan_half_conj = FT_COLUMN_CONJ(tan_half, 1);
    for (; i + FT_LANES <= n; i += FT_LANES) {
        const ft_column v = FT_COLUMN_LOAD(FT_AT(x, i)), w = FT_COLUMN_LOAD(FT_AT(y, i));
        const ft_column to_v = FT_COLUMN_PLUS(w, tan_half, v), to_w = FT_COLUMN_LESS(v, tan_half_conj, w);
        FT_COLUMN_STORE(FT_COLUMN_LESS(v, sine_conj, to_v), FT_AT(x, i));
        FT_COLUMN_STORE(FT_COLUMN_PLUS(w, sine, to_w), FT_AT(y, i));
    }
#endif
    FT_LOOP(rotate)
    for (; i < n; i++) {
        FT_PIPELINE
        FT_NO_POINTER_DEPENDENCE
        const ft_one v = ft_get(x, i), w = ft_get(y, i);
        const ft_one to_v = ft_plus(w, ft_times(r.tan_half, v)), to_w = ft_minus(v, ft_times(ft_conj(r.tan_half), w));
        ft_set(ft_minus(v, ft_times(ft_conj(r.sine), to_v)), x, i);
        ft_set(ft_plus(w, ft_times(r.sine, to_w)), y, i);
    }
}

FT_FN_ONCE void ft_exchange(FT_GLOBAL FT_T *x, FT_GLOBAL FT_T *y, int n)
{
    FT_LOOP(exchange)
    for (int i = 0; i < n; i++) {
        FT_PIPELINE
        FT_NO_POINTER_DEPENDENCE
        const ft_one v = ft_get(x, i), w = ft_get(y, i);
        ft_set(w, x, i);
        ft_set(v, y, i);
    }
}

FT_FN_ONCE void ft_unit_matrix(FT_GLOBAL FT_T *v, int n)
{
    for (int j = 0; j < n; j++) {
        FT_LOOP(identity)
        for (int i = 0; i < n; i++) {
            FT_PIPELINE
            ft_set(FT_REAL_ONE(i == j ? 1 : 0), v, (long)j * n + i);
        }
    }
}

// Sorts the n values of a matrix, from the largest or the smallest on, and its columns with them: of x if `moves_x`
// is set, of y if `moves_y` is.
FT_FN_ONCE void ft_sort_columns(
    FT_GLOBAL FT_T *values, int n, int largest, FT_GLOBAL FT_T *x, int lead, int moves_x, FT_GLOBAL FT_T *y, int moves_y)
{
    for (int j = 0; j < n - 1; j++) {
        const FT_T first = values[j];
        int at = j;
        FT_T most = first;
        FT_LOOP(search)
        for (int k = j + 1; k < n; k++) {
            FT_PIPELINE
            const FT_T value = values[k];
            if (largest ? value > most : value < most) {
                most = value;
                at = k;
            }
        }
        if (at == j) continue;
        values[j] = most;
        values[at] = first;
        if (moves_x) ft_exchange(FT_AT(x, (long)j * lead), FT_AT(x, (long)at * lead), n);
        if (moves_y) ft_exchange(FT_AT(y, (long)j * n), FT_AT(y, (long)at * n), n);
    }
}
