// Products of a filter's samples with its taps, and their sums (kernels/row_filter.py).
FT_FN float ft_tap_product(float x, float w) { return x * w; }
FT_FN ft_cfloat ft_tap_product(ft_cfloat x, float w)
{
    const ft_cfloat product = {x.re * w, x.im * w};
    return product;
}
FT_FN ft_cfloat ft_tap_product(ft_cfloat x, ft_cfloat w)
{
    const ft_cfloat product = {x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re};
    return product;
}
FT_FN float ft_tap_sum(float x, float y) { return x + y; }
FT_FN ft_cfloat ft_tap_sum(ft_cfloat x, ft_cfloat y)
{
    const ft_cfloat sum = {x.re + y.re, x.im + y.im};
    return sum;
}
// Turns a negative zero into zero: a sum of negative zeros only would be -0.
FT_FN float ft_plain_zero(float x) { return x == 0.0f ? 0.0f : x; }
FT_FN ft_cfloat ft_plain_zero(ft_cfloat x)
{
    const ft_cfloat plain = {ft_plain_zero(x.re), ft_plain_zero(x.im)};
    return plain;
}
