// Helpers that an op's expression may call. FT_V: values in the compute type, FT_M: masks; all lanes alike.
#define ft_where(c, x, y) ((c) ? (x) : (y))
#define ft_isnan(x) ((x) != (x))

#if FT_FLOATING
#define FT_PI 3.14159265358979323846
#define ft_abs(x) fabs(x)
// x brought into [low, high]; a NaN stays one.
FT_FN_ONCE FT_V ft_within(FT_V x, FT_V low, FT_V high) { return x < low ? low : (x > high ? high : x); }
#define ft_isinf(x) (fabs(x) == K(INFINITY))
#define ft_isfinite(x) (fabs(x) < K(INFINITY))
// Not by signbit: g++ 12 fails on a vectorized one.
#define ft_signbit(x) (copysign(K(1), x) < K(0))
// torch's maximum and minimum let a NaN through; C's fmax and fmin drop it.
FT_FN_ONCE FT_V ft_max(FT_V x, FT_V y) { return x != x ? x : (y != y ? y : (x > y ? x : y)); }
FT_FN_ONCE FT_V ft_min(FT_V x, FT_V y) { return x != x ? x : (y != y ? y : (x < y ? x : y)); }
// Angles so small that the first term is the rounded result: a runtime's sine of a subnormal beside a huge
// angle in the same vector may be wrong (PoCL 3.1 gives 0.0079 for 1e-40).
#define FT_SMALL_ANGLE K(FT_DOUBLE ? 1e-8 : 1e-4)
FT_FN_ONCE FT_V ft_sin(FT_V x) { return fabs(x) < FT_SMALL_ANGLE ? x : sin(x); }
FT_FN_ONCE FT_V ft_cos(FT_V x) { return fabs(x) < FT_SMALL_ANGLE ? K(1) : cos(x); }
FT_FN_ONCE FT_V ft_tan(FT_V x) { return fabs(x) < FT_SMALL_ANGLE ? x : tan(x); }
#else
FT_FN_ONCE FT_V ft_max(FT_V x, FT_V y) { return x > y ? x : y; }
FT_FN_ONCE FT_V ft_min(FT_V x, FT_V y) { return x < y ? x : y; }
#if FT_SIGNED
FT_FN_ONCE FT_V ft_abs(FT_V x) { return x < K(0) ? -x : x; }
#else
#define ft_abs(x) (x)
#endif
#endif

// The identities of max and min: nothing lies beyond them.
#if FT_FLOATING
#define FT_LOWEST K(-INFINITY)
#define FT_HIGHEST K(INFINITY)
#elif FT_SIGNED
#define FT_HIGHEST K((FT_T)(((ulong)1 << (FT_BITS_PER_VALUE - 1)) - 1))
#define FT_LOWEST (-FT_HIGHEST - K(1))
#else
#define FT_LOWEST K(0)
#define FT_HIGHEST K((FT_T)255)
#endif
