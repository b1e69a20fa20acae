FT_EACH_VECTOR
FT_EACH_LANE { FT_LANE(middle) = ft_combine(FT_LANE(middle), FT_LANE(sum[v])); }
if (++blocks % 16 == 0) {
    FT_EACH_LANE
    {
        FT_LANE(top) = ft_combine(FT_LANE(top), FT_LANE(middle));
        FT_LANE(middle) = ft_identity();
    }
    if (blocks % 256 == 0) {
        FT_EACH_LANE
        {
            FT_LANE(high) = ft_combine(FT_LANE(high), FT_LANE(top));
            FT_LANE(top) = ft_identity();
        }
    }
}
