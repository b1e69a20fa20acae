// Parts of matrix products: scalar factors, panels, results.
#include "element.h"

#if FT_COMPLEX
#define FT_NUMBER_PARAMS FT_T alpha_re, FT_T alpha_im, FT_T beta_re, FT_T beta_im
#define FT_NUMBERS alpha_re, alpha_im, beta_re, beta_im
#else
#define FT_NUMBER_PARAMS FT_T alpha_re, FT_T beta_re
#define FT_NUMBERS alpha_re, beta_re
#endif

// Copies element i of a panel from memory.
#if FT_COMPLEX
#define FT_ELEMENT(to, i, p) { (to)[2 * (i)] = (p)[0]; (to)[2 * (i) + 1] = (p)[1]; }
#define FT_ELEMENT_ZERO(to, i) { (to)[2 * (i)] = 0; (to)[2 * (i) + 1] = 0; }
#else
#define FT_ELEMENT(to, i, p) (to)[i] = FT_ONE(p);
#define FT_ELEMENT_ZERO(to, i) (to)[i] = 0;
#endif

// A result for modes 0, 1, 2: the sum, alpha * sum, beta * added + alpha * sum.
FT_FN_ONCE FT_X ft_scaled(FT_X sum, FT_X added, int mode, FT_NUMBER_PARAMS)
{
    if (mode == 2) return ft_xadd(ft_xmul(FT_X_NUMBER(beta), added), ft_xmul(FT_X_NUMBER(alpha), sum));
    if (mode == 1) return ft_xmul(FT_X_NUMBER(alpha), sum);
    return sum;
}

// Stores one vector of results. `whole` is true if all its lanes may be written at once.
FT_FN_ONCE void ft_result(
    FT_WIDE_X sums, int mode, FT_NUMBER_PARAMS, FT_GLOBAL const FT_E *added, int added_step,
    FT_GLOBAL FT_E *out, int out_step, int m, int whole)
{
    FT_WIDE_E w;
    if (mode == 2) {
#if FT_ANY_ALIGNMENT
        const FT_WIDE_E old = added_step == 1 && m == FT_LANES ? FT_E_LOAD(added) : FT_E_PICK(added, added_step, m);
#else
        const FT_WIDE_E old = FT_E_PICK(added, added_step, m);
#endif
        FT_EACH_LANE
        {
            FT_PIPELINE
            const FT_X s = FT_VALUE(FT_LANE(old)), r = ft_scaled(FT_LANE(sums), s, mode, FT_NUMBERS);
            FT_LANE(w) = FT_STORED(r);
        }
    } else {
        FT_EACH_LANE
        {
            FT_PIPELINE
            const FT_X r = ft_scaled(FT_LANE(sums), FT_LANE(sums), mode, FT_NUMBERS);
            FT_LANE(w) = FT_STORED(r);
        }
    }
    if (whole && m == FT_LANES && out_step == 1) {
        FT_E_STORE(w, out);
    } else {
        FT_E_PUT(w, out, out_step, m);
    }
}
