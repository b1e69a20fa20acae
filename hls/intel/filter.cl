// Arithmetic of a filter stage (kernels/row_filter.py): products of samples with taps, which are zero outside
// the signal.

static inline float ft_tap_float_product(float x, float w, bool inside)
{
    return (inside ? x : 0.0f) * w;
}
static inline ft_cfloat ft_tap_real_product(ft_cfloat x, float w, bool inside)
{
    const float re = inside ? x.re : 0.0f, im = inside ? x.im : 0.0f;
    const ft_cfloat product = {re * w, im * w};
    return product;
}
static inline ft_cfloat ft_tap_complex_product(ft_cfloat x, ft_cfloat w, bool inside)
{
    const float re = inside ? x.re : 0.0f, im = inside ? x.im : 0.0f;
    const ft_cfloat product = {re * w.re - im * w.im, re * w.im + im * w.re};
    return product;
}
static inline float ft_tap_sum_float(float a, float b) { return a + b; }
static inline ft_cfloat ft_tap_sum_complex(ft_cfloat a, ft_cfloat b)
{
    const ft_cfloat sum = {a.re + b.re, a.im + b.im};
    return sum;
}
// Turns a negative zero into zero: a sum of negative zeros only would be -0.
static inline float ft_plain_zero_float(float x) { return x == 0.0f ? 0.0f : x; }
static inline ft_cfloat ft_plain_zero_complex(ft_cfloat x)
{
    const ft_cfloat plain = {ft_plain_zero_float(x.re), ft_plain_zero_float(x.im)};
    return plain;
}
