// Complex helpers: FT_C is a pair of real lane vectors.
typedef FT_CAT(ft_c, FT_T) FT_C;
FT_FN_ONCE FT_C ft_cmake(FT_V re, FT_V im) { return FT_PAIR(FT_T, re, im); }
FT_FN_ONCE FT_C ft_cadd(FT_C x, FT_C y) { return ft_cmake(x.re + y.re, x.im + y.im); }
FT_FN_ONCE FT_C ft_csub(FT_C x, FT_C y) { return ft_cmake(x.re - y.re, x.im - y.im); }
FT_FN_ONCE FT_C ft_cmul(FT_C x, FT_C y) { return ft_cmake(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }
