// Elements and columns of matrices, for factorizations and solvers. Matrices are column-major: element (i, j)
// is at i + j * lead. An element (ft_one) is a scalar, whatever the number of lanes. Functions that v++
// implements in hardware are called by the namespace FT_MATH.
#ifdef FT_MATH
#define FT_ROOT(x) FT_MATH::sqrt(x)
#define FT_SIZE(x) FT_MATH::fabs(x)
#else
#define FT_ROOT(x) sqrt(x)
#define FT_SIZE(x) fabs(x)
#endif
#if FT_COMPLEX
#define FT_PARTS 2
typedef struct { FT_T re, im; } ft_one;
FT_FN_ONCE ft_one ft_pair_of(FT_T re, FT_T im)
{
    ft_one x;
    x.re = re;
    x.im = im;
    return x;
}
FT_FN_ONCE ft_one ft_get(FT_GLOBAL const FT_T *p, long i) { return ft_pair_of(p[2 * i], p[2 * i + 1]); }
FT_FN_ONCE void ft_set(ft_one x, FT_GLOBAL FT_T *p, long i)
{
    p[2 * i] = x.re;
    p[2 * i + 1] = x.im;
}
FT_FN_ONCE ft_one ft_plus(ft_one x, ft_one y) { return ft_pair_of(x.re + y.re, x.im + y.im); }
FT_FN_ONCE ft_one ft_minus(ft_one x, ft_one y) { return ft_pair_of(x.re - y.re, x.im - y.im); }
FT_FN_ONCE ft_one ft_times(ft_one x, ft_one y)
{
    return ft_pair_of(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}
// A quotient by Smith's method: it computes no square that could overflow or underflow.
FT_FN_ONCE ft_one ft_over(ft_one x, ft_one y)
{
    if (FT_SIZE(y.re) >= FT_SIZE(y.im)) {
        const FT_T r = y.im / y.re, d = y.re + y.im * r;
        return ft_pair_of((x.re + x.im * r) / d, (x.im - x.re * r) / d);
    }
    const FT_T r = y.re / y.im, d = y.re * r + y.im;
    return ft_pair_of((x.re * r + x.im) / d, (x.im * r - x.re) / d);
}
FT_FN_ONCE ft_one ft_conj(ft_one x) { return ft_pair_of(x.re, -x.im); }
FT_FN_ONCE FT_T ft_re(ft_one x) { return x.re; }
FT_FN_ONCE FT_T ft_im(ft_one x) { return x.im; }
#else
#define FT_PARTS 1
typedef FT_T ft_one;
FT_FN_ONCE ft_one ft_pair_of(FT_T re, FT_T im) { return re; }
FT_FN_ONCE ft_one ft_get(FT_GLOBAL const FT_T *p, long i) { return p[i]; }
FT_FN_ONCE void ft_set(ft_one x, FT_GLOBAL FT_T *p, long i) { p[i] = x; }
FT_FN_ONCE ft_one ft_plus(ft_one x, ft_one y) { return x + y; }
FT_FN_ONCE ft_one ft_minus(ft_one x, ft_one y) { return x - y; }
FT_FN_ONCE ft_one ft_times(ft_one x, ft_one y) { return x * y; }
FT_FN_ONCE ft_one ft_over(ft_one x, ft_one y) { return x / y; }
FT_FN_ONCE ft_one ft_conj(ft_one x) { return x; }
FT_FN_ONCE FT_T ft_re(ft_one x) { return x; }
FT_FN_ONCE FT_T ft_im(ft_one x) { return 0; }
#endif
FT_FN_ONCE ft_one ft_conj_if(int conjugate, ft_one x)
{
    if (conjugate) return ft_conj(x);
    return x;
}
#define FT_AT(p, i) ((p) + FT_PARTS * (long)(i))
#define FT_REAL_ONE(x) ft_pair_of(x, 0)
// The magnitude by which LAPACK selects a pivot.
FT_FN_ONCE FT_T ft_size(ft_one x) { return FT_SIZE(ft_re(x)) + FT_SIZE(ft_im(x)); }

#if FT_LOCAL_ELEMENTS
// The number of matrices that a unit of a board keeps in block memory at once. Iterations alternate between
// them, so that a step of one matrix finds the results of the step before.
FT_FN_ONCE int ft_group(int matrices, int size, int rows, int units)
{
    int group = (matrices + units - 1) / units;
    if (group > FT_GROUP) group = FT_GROUP;
    if (group > FT_LOCAL_ELEMENTS / size) group = FT_LOCAL_ELEMENTS / size;
    if (group > FT_ROWS / rows) group = FT_ROWS / rows;
    return group;
}
#endif

// With unaligned vector access, lanes cover neighbouring elements of a column; the rest of it takes scalar
// steps.
#if FT_LANES > 1
#if FT_COMPLEX
#define FT_COLUMN_LOAD(p) ft_load_pair(p)
#define FT_COLUMN_STORE(v, p) ft_store_pair(v, p)
#define FT_COLUMN_SAME(s) ft_cmake(K((s).re), K((s).im))
#define FT_COLUMN_LESS(y, s, x) ft_csub(y, ft_cmul(s, x))
#define FT_COLUMN_PLUS(y, s, x) ft_cadd(y, ft_cmul(s, x))
#define FT_COLUMN_CONJ(v, conjugate) ft_cmake((v).re, (conjugate) ? -(v).im : (v).im)
typedef FT_C ft_column;
#else
#define FT_COLUMN_LOAD(p) FT_VLOAD(p)
#define FT_COLUMN_STORE(v, p) FT_VSTORE(v, p)
#define FT_COLUMN_SAME(s) K(s)
#define FT_COLUMN_LESS(y, s, x) ((y) - (s) * (x))
#define FT_COLUMN_PLUS(y, s, x) ((y) + (s) * (x))
#define FT_COLUMN_CONJ(v, conjugate) (v)
typedef FT_V ft_column;
#endif
#endif

// y -= s * x, for n elements of two columns that do not overlap.
FT_FN_ONCE void ft_less(FT_GLOBAL FT_T *y, FT_GLOBAL const FT_T *x, ft_one s, int n)
{
    int i = 0;
#if FT_LANES > 1
    const ft_column same = FT_COLUMN_SAME(s);
    for (; i + FT_LANES <= n; i += FT_LANES) {
        const ft_column v = FT_COLUMN_LOAD(FT_AT(x, i)), w = FT_COLUMN_LOAD(FT_AT(y, i));
        FT_COLUMN_STORE(FT_COLUMN_LESS(w, same, v), FT_AT(y, i));
    }
#endif
    FT_LOOP(less)
    for (; i < n; i++) {
        FT_PIPELINE
        FT_NO_POINTER_DEPENDENCE
        ft_set(ft_minus(ft_get(y, i), ft_times(s, ft_get(x, i))), y, i);
    }
}

// The sum of x * y, or of conj(x) * y, for n elements of two columns.
FT_FN_ONCE ft_one ft_dot(FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *y, int conjugate, int n)
{
    ft_one sum = FT_REAL_ONE(0);
    int i = 0;
#if FT_LANES > 1
    if (n >= FT_LANES) {
        ft_column sums = FT_COLUMN_SAME(sum);
        for (; i + FT_LANES <= n; i += FT_LANES) {
            const ft_column v = FT_COLUMN_LOAD(FT_AT(x, i)), w = FT_COLUMN_LOAD(FT_AT(y, i));
            sums = FT_COLUMN_PLUS(sums, FT_COLUMN_CONJ(v, conjugate), w);
        }
#if FT_COMPLEX
        FT_T re[FT_LANES], im[FT_LANES];
        FT_LANES_TO(sums.re, re);
        FT_LANES_TO(sums.im, im);
        for (int l = 0; l < FT_LANES; l++) sum = ft_plus(sum, ft_pair_of(re[l], im[l]));
#else
        FT_T each[FT_LANES];
        FT_LANES_TO(sums, each);
        for (int l = 0; l < FT_LANES; l++) sum += each[l];
#endif
    }
#endif
    FT_LOOP(dot)
    for (; i < n; i++) {
        FT_PIPELINE
        const ft_one a = ft_get(x, i);
        sum = ft_plus(sum, ft_times(ft_conj_if(conjugate, a), ft_get(y, i)));
    }
    return sum;
}

// Applies a Householder reflection to a column y of m elements. Its vector v is stored below element j of
// another column.
FT_FN_ONCE void ft_reflect(FT_GLOBAL FT_T *y, FT_GLOBAL const FT_T *v, int j, ft_one tau, int m)
{
    const int n = m - j - 1;
    const ft_one top = ft_get(y, j), along = ft_plus(top, ft_dot(FT_AT(v, j + 1), FT_AT(y, j + 1), 1, n));
    const ft_one part = ft_times(tau, along);
    ft_set(ft_minus(top, part), y, j);
    ft_less(FT_AT(y, j + 1), FT_AT(v, j + 1), part, n);
}
