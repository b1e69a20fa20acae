// Copies between the tensors' memory and a group's working memory. The stride along a transform is `step`, the stride
// between lanes `lane`, the offset of an imaginary part from the real one `im`, all in real numbers; m lanes are
// used. Whole vectors are read for neighbouring lanes (complex or real numbers), or for neighbouring positions, which
// are transposed.
#if FT_LANES > 1
typedef FT_VEC(FT_T) ft_fft_vec;
// Combines half of x and half of y in one vector; the macro's arguments select the halves and their positions.
#define FT_FFT_HALVES(name, of, to_x, to_y) \
    FT_FN_ONCE ft_fft_vec name(ft_fft_vec x, ft_fft_vec y) \
    { \
        ft_fft_vec z; \
        z.to_x = x.of; \
        z.to_y = y.of; \
        return z; \
    }
FT_FFT_HALVES(ft_fft_low, lo, even, odd)
FT_FFT_HALVES(ft_fft_high, hi, even, odd)
FT_FFT_HALVES(ft_fft_evens, even, lo, hi)
FT_FFT_HALVES(ft_fft_odds, odd, lo, hi)
#undef FT_FFT_HALVES
// Transposes rows to columns in log2(FT_LANES) steps, each of which interleaves lines of the two halves.
FT_FN_ONCE void ft_fft_transpose(ft_fft_vec *x)
{
    FT_UNROLL
    for (int half_ = FT_LANES / 2; half_ > 0; half_ /= 2) {
        ft_fft_vec y[FT_LANES];
        FT_UNROLL
        for (int i = 0; i < FT_LANES / 2; i++) {
            y[2 * i] = ft_fft_low(x[i], x[i + FT_LANES / 2]);
            y[2 * i + 1] = ft_fft_high(x[i], x[i + FT_LANES / 2]);
        }
        FT_UNROLL
        for (int i = 0; i < FT_LANES; i++) x[i] = y[i];
    }
}
#endif

// Reads `count` numbers; with `real` their imaginary parts are 0. With `swap`, real and imaginary parts are
// exchanged.
FT_NOINLINE void ft_fft_read(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, long step, long lane, long im, int m, int count, int real,
    int swap)
{
    const int re_at = swap ? FT_LANES : 0, im_at = FT_LANES - re_at;
    int i = 0;
#if FT_LANES > 1
    if (!real && step == 2 && im == 1) {
        for (; i + FT_LANES / 2 <= count; i += FT_LANES / 2) {
            ft_fft_vec x[FT_LANES];
            FT_GLOBAL FT_T *q = to + (long)i * FT_FFT_SIZE;
            if (m == FT_LANES) {
                FT_UNROLL
                for (int k = 0; k < FT_LANES; k++) x[k] = FT_VLOAD(from + 2L * i + k * lane);
            } else {
                FT_UNROLL
                for (int k = 0; k < FT_LANES; k++) x[k] = FT_VLOAD(from + 2L * i + (k < m ? k : 0) * lane);
            }
            ft_fft_transpose(x);
            FT_UNROLL
            for (int k = 0; k < FT_LANES / 2; k++) {
                FT_VSTORE(x[2 * k], q + k * FT_FFT_SIZE + re_at);
                FT_VSTORE(x[2 * k + 1], q + k * FT_FFT_SIZE + im_at);
            }
        }
    } else if (!real && lane == 2 && im == 1 && m == FT_LANES) {
        for (; i < count; i++) {
            FT_GLOBAL const FT_T *p = from + i * step;
            const ft_fft_vec x = FT_VLOAD(p), y = FT_VLOAD(p + FT_LANES);
            FT_VSTORE(ft_fft_evens(x, y), to + (long)i * FT_FFT_SIZE + re_at);
            FT_VSTORE(ft_fft_odds(x, y), to + (long)i * FT_FFT_SIZE + im_at);
        }
    } else if (lane == 1 && m == FT_LANES) {
        for (; i < count; i++) {
            const ft_fft_vec x = FT_VLOAD(from + i * step);
            ft_fft_vec y = (ft_fft_vec)(0);
            if (!real) y = FT_VLOAD(from + i * step + im);
            FT_VSTORE(x, to + (long)i * FT_FFT_SIZE + re_at);
            FT_VSTORE(y, to + (long)i * FT_FFT_SIZE + im_at);
        }
    }
#endif
    for (; i < count; i++) {
        FT_GLOBAL const FT_T *p = from + i * step;
        for (int l = 0; l < FT_LANES; l++) {
            to[(long)i * FT_FFT_SIZE + re_at + l] = l < m ? p[l * lane] : (FT_T)0;
            to[(long)i * FT_FFT_SIZE + im_at + l] = l < m && !real ? p[l * lane + im] : (FT_T)0;
        }
    }
}

// Fills positions [begin, n) with zeros, or with `half_` with the rest of a spectrum, whose number n - i is the
// conjugate of number i.
FT_NOINLINE void ft_fft_fill(FT_GLOBAL FT_T *s, int begin, int n, int half_, int swap)
{
    for (int i = begin; i < n; i++) {
        FT_WIDE_PAIR(FT_T) x;
        if (half_) {
            x = ft_fft_get(s + (long)(n - i) * FT_FFT_SIZE);
            FT_EACH_LANE {
                const FT_C c = FT_LANE(x);
                FT_LANE(x) = ft_cmake(swap ? -c.re : c.re, swap ? c.im : -c.im);
            }
        } else {
            FT_EACH_LANE FT_LANE(x) = ft_cmake(K(0), K(0));
        }
        ft_fft_set(x, s + (long)i * FT_FFT_SIZE);
    }
}

// Writes `count` numbers times `scale`, and with `twiddles` also times a table of the same layout.
FT_NOINLINE void ft_fft_write(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *twiddles, long step, long lane, long im,
    int m, int count, int real, int swap, int twiddle, FT_T scale)
{
    const int re_at = swap ? FT_LANES : 0, im_at = FT_LANES - re_at;
    int i = 0;
#if FT_LANES > 1
    const ft_fft_vec factor = (ft_fft_vec)(scale);
    if (!real && !twiddle && step == 2 && im == 1) {
        for (; i + FT_LANES / 2 <= count; i += FT_LANES / 2) {
            ft_fft_vec x[FT_LANES];
            FT_GLOBAL const FT_T *p = from + (long)i * FT_FFT_SIZE;
            FT_UNROLL
            for (int k = 0; k < FT_LANES / 2; k++) {
                x[2 * k] = FT_VLOAD(p + k * FT_FFT_SIZE + re_at) * factor;
                x[2 * k + 1] = FT_VLOAD(p + k * FT_FFT_SIZE + im_at) * factor;
            }
            ft_fft_transpose(x);
            if (m == FT_LANES) {
                FT_UNROLL
                for (int k = 0; k < FT_LANES; k++) FT_VSTORE(x[k], to + 2L * i + k * lane);
            } else {
                FT_UNROLL
                for (int k = 0; k < FT_LANES; k++) {
                    if (k < m) FT_VSTORE(x[k], to + 2L * i + k * lane);
                }
            }
        }
    } else if (!real && lane == 2 && im == 1 && m == FT_LANES) {
        if (twiddle) {
            for (; i < count; i++) {
                FT_WIDE_PAIR(FT_T) x = ft_fft_get(from + (long)i * FT_FFT_SIZE);
                x = ft_fft_times(x, ft_fft_get(twiddles + (long)i * FT_FFT_SIZE));
                FT_VSTORE(ft_fft_low(x.re, x.im), to + i * step);
                FT_VSTORE(ft_fft_high(x.re, x.im), to + i * step + FT_LANES);
            }
        }
        for (; i < count; i++) {
            const ft_fft_vec x = FT_VLOAD(from + (long)i * FT_FFT_SIZE + re_at) * factor;
            const ft_fft_vec y = FT_VLOAD(from + (long)i * FT_FFT_SIZE + im_at) * factor;
            FT_VSTORE(ft_fft_low(x, y), to + i * step);
            FT_VSTORE(ft_fft_high(x, y), to + i * step + FT_LANES);
        }
    } else if (!twiddle && lane == 1 && m == FT_LANES) {
        for (; i < count; i++) {
            FT_VSTORE(FT_VLOAD(from + (long)i * FT_FFT_SIZE + re_at) * factor, to + i * step);
            if (!real) FT_VSTORE(FT_VLOAD(from + (long)i * FT_FFT_SIZE + im_at) * factor, to + i * step + im);
        }
    }
#endif
    for (; i < count; i++) {
        FT_GLOBAL const FT_T *p = from + (long)i * FT_FFT_SIZE, *w = twiddles + (twiddle ? (long)i * FT_FFT_SIZE : 0);
        for (int l = 0; l < m; l++) {
            FT_T re = p[re_at + l], y = p[im_at + l];
            if (twiddle) {
                const FT_T c = w[l], s = w[FT_LANES + l], x = re;
                re = x * c - y * s;
                y = x * s + y * c;
            }
            to[i * step + l * lane] = re * scale;
            if (!real) to[i * step + l * lane + im] = y * scale;
        }
    }
}
