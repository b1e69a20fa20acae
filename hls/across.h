// Sums and maxima of a vector's lanes.
#if FT_NATIVE_LANES
#define FT_LANES_APART(each, v) \
    FT_T each[FT_LANES];        \
    FT_LANES_TO(v, each);
#else
#define FT_LANES_APART(each, v) FT_WIDE(FT_T) each = v;
#endif
// Every lane of v becomes what all are together: x and y as JOIN(x, y).
#define FT_ACROSS(v, JOIN)                                                               \
    {                                                                                    \
        FT_LANES_APART(each, v)                                                          \
        for (int half_ = FT_LANES / 2; half_ > 0; half_ /= 2) {                          \
            for (int l = 0; l < half_; l++) each[l] = JOIN(each[l], each[l + half_]);    \
        }                                                                                \
        FT_EACH_LANE { FT_LANE(v) = K(each[0]); }                                        \
    }
#define FT_SUM_OF(x, y) ((x) + (y))
#define FT_LARGER_OF(x, y) ((x) != (x) || (x) >= (y) ? (x) : (y))
