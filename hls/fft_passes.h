// Passes of every radix.
#define FT_R 2
#include "fft_pass.h"
#undef FT_R
#define FT_R 3
#include "fft_pass.h"
#undef FT_R
#define FT_R 4
#include "fft_pass.h"
#undef FT_R
#define FT_R 5
#include "fft_pass.h"
#undef FT_R
#define FT_R 8
#include "fft_pass.h"
#undef FT_R
#define FT_R 16
#include "fft_pass.h"
#undef FT_R

// Like fft_pass.h, for any odd radix r up to FT_MAX_RADIX. Inputs at the same distance from the middle share
// their products. The r roots of unity follow the pass's other roots in the table.
FT_NOINLINE void ft_fft_pass_any(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int r, int n, int length)
{
    const long apart = (long)(n / r) * FT_FFT_SIZE, across = (long)length * FT_FFT_SIZE;
    const int pairs = r / 2, first = length == 1;
    FT_GLOBAL const FT_T *circle = roots + 2L * (r - 1) * (first ? 0 : length);
    for (int item = 0; item < n / r; item++) {
        const int j = item % length, block = item / length;
        FT_GLOBAL const FT_T *x = from + (long)item * FT_FFT_SIZE, *w = roots + 2L * j * (r - 1);
        FT_GLOBAL FT_T *y = to + ((long)block * length * r + j) * FT_FFT_SIZE;
        FT_WIDE_PAIR(FT_T) sums[FT_MAX_RADIX / 2 + 1], gaps[FT_MAX_RADIX / 2 + 1];
        sums[0] = ft_fft_get(x);
        FT_WIDE_PAIR(FT_T) total = sums[0];
        for (int k = 1; k <= pairs; k++) {
            FT_WIDE_PAIR(FT_T) a = ft_fft_get(x + k * apart), b = ft_fft_get(x + (r - k) * apart);
            FT_EACH_LANE {
                FT_C p = FT_LANE(a), q = FT_LANE(b);
                if (!first) {
                    p = ft_fft_times(p, ft_fft_root(w + 2 * (k - 1)));
                    q = ft_fft_times(q, ft_fft_root(w + 2 * (r - k - 1)));
                }
                FT_LANE(sums[k]) = ft_cadd(p, q);
                FT_LANE(gaps[k]) = ft_csub(p, q);
                FT_LANE(total) = ft_cadd(FT_LANE(total), FT_LANE(sums[k]));
            }
        }
        ft_fft_set(total, y);
        for (int q = 1; q <= pairs; q++) {
            FT_WIDE_PAIR(FT_T) even = sums[0], odd, other;
            FT_EACH_LANE FT_LANE(odd) = ft_cmake(K(0), K(0));
            for (int k = 1, at = q; k <= pairs; k++) {
                const FT_T c = circle[2 * at], s = -circle[2 * at + 1];
                FT_EACH_LANE FT_LANE(even) = ft_fft_fma(FT_LANE(even), K(c), FT_LANE(sums[k]));
                FT_EACH_LANE FT_LANE(odd) = ft_fft_fma(FT_LANE(odd), K(s), FT_LANE(gaps[k]));
                at += q;
                if (at >= r) at -= r;
            }
            FT_EACH_LANE {
                const FT_C e = FT_LANE(even), o = FT_LANE(odd);
                FT_LANE(odd) = ft_fft_right(e, o);
                FT_LANE(other) = ft_fft_add_i(e, o);
            }
            ft_fft_set(odd, y + q * across);
            ft_fft_set(other, y + (r - q) * across);
        }
    }
}

FT_FN_ONCE void ft_fft_pass(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int r, int n, int length)
{
    if (r == 16) {
        ft_fft_pass_16(to, from, roots, n, length);
    } else if (r == 8) {
        ft_fft_pass_8(to, from, roots, n, length);
    } else if (r == 4) {
        ft_fft_pass_4(to, from, roots, n, length);
    } else if (r == 2) {
        ft_fft_pass_2(to, from, roots, n, length);
    } else if (r == 3) {
        ft_fft_pass_3(to, from, roots, n, length);
    } else if (r == 5) {
        ft_fft_pass_5(to, from, roots, n, length);
    } else {
        ft_fft_pass_any(to, from, roots, r, n, length);
    }
}

// Multiplies every number by one of a table, the same for all lanes. With real and imaginary parts exchanged
// before and after it, a forward transform is an inverse one. Bits of `ends`: exchange the parts of the input,
// of the output.
FT_NOINLINE void ft_fft_times_table(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *table, int n, int ends)
{
    for (int i = 0; i < n; i++) {
        FT_WIDE_PAIR(FT_T) x = ft_fft_get(from + (long)i * FT_FFT_SIZE);
        FT_EACH_LANE {
            const FT_C a = FT_LANE(x);
            const FT_C b = ft_fft_times(
                ft_cmake(ends & 1 ? a.im : a.re, ends & 1 ? a.re : a.im), ft_fft_root(table + 2L * i));
            FT_LANE(x) = ft_cmake(ends & 2 ? b.im : b.re, ends & 2 ? b.re : b.im);
        }
        ft_fft_set(x, to + (long)i * FT_FFT_SIZE);
    }
}
