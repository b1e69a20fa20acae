// Products of Q, or of its conjugate transpose (adjoint), with matrices c, in place. Q is the product of `count`
// reflections, stored in a and tau by dense_qr.h. An item is one of the k columns, of m elements, of one c.
FT_KERNEL void FT_NAME(FT_GLOBAL const FT_T *a, FT_GLOBAL const FT_T *tau, FT_GLOBAL FT_T *c, long a_offset,
                       long tau_offset, long c_offset, int items, int m, int k, int count, int a_lead, int c_lead,
                       long a_step, long c_step, int adjoint FT_UNIT_PARAMS)
{
    FT_FOR_SLAB(item, items)
    {
        const int matrix = item / k;
        FT_GLOBAL const FT_T *v = FT_AT(a, a_offset + matrix * a_step);
        FT_GLOBAL FT_T *y = FT_AT(c, c_offset + matrix * c_step + (long)(item % k) * c_lead);
        for (int t = 0; t < count; t++) {
            const int j = adjoint ? t : count - 1 - t;
            const ft_one factor = ft_get(tau, tau_offset + (long)matrix * count + j);
            ft_reflect(y, FT_AT(v, (long)j * a_lead), j, ft_conj_if(adjoint, factor), m);
        }
    }
}
