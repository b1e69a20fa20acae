// A row of a fold across rows: every lane takes an element; then sums of 16, 256 and 4096 rows move up.
if (width == FT_VECTORS * FT_LANES) {
    FT_EACH_VECTOR
    {
        const int i = first_column + v * FT_LANES;
        FT_READ(i)
        FT_EACH_LANE
        {
            FT_ELEMENT((FT_I)(row))
#if FT_FOLDS
            FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#endif
        }
        FT_PUT(i)
    }
} else {
    FT_EACH_VECTOR
    {
        const int i = first_column + v * FT_LANES, m = width - v * FT_LANES;
        if (m >= FT_LANES) {
            FT_READ(i)
            FT_EACH_LANE
            {
                FT_ELEMENT((FT_I)(row))
#if FT_FOLDS
                FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#endif
            }
            FT_PUT(i)
        } else if (m > 0) {
            FT_READ_PART(i, m)
            FT_EACH_LANE
            {
                FT_ELEMENT((FT_I)(row))
#if FT_FOLDS
                FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#endif
            }
            FT_PUT_PART(i, m)
        }
    }
}
#if FT_FOLDS
if (done % 16 == 0) {
    FT_EACH_VECTOR
    FT_EACH_LANE
    {
        FT_LANE(middle[v]) = ft_combine(FT_LANE(middle[v]), FT_LANE(sum[v]));
        FT_LANE(sum[v]) = ft_identity();
    }
    if (done % 256 == 0) {
        FT_EACH_VECTOR
        FT_EACH_LANE
        {
            FT_LANE(top[v]) = ft_combine(FT_LANE(top[v]), FT_LANE(middle[v]));
            FT_LANE(middle[v]) = ft_identity();
        }
        if (done % 4096 == 0) {
            FT_EACH_VECTOR
            FT_EACH_LANE
            {
                FT_LANE(high[v]) = ft_combine(FT_LANE(high[v]), FT_LANE(top[v]));
                FT_LANE(top[v]) = ft_identity();
            }
        }
    }
}
#endif
