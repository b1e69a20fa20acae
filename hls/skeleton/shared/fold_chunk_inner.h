// A chunk of a row: each lane takes its share of the elements.
const int stop = inner - part * chunk < chunk ? inner : (part + 1) * chunk;
int i = part * chunk;
FT_BEATS(i)
#if FT_FOLDS
FT_STATES(sum)
#if FT_VECTORS > 1
FT_LOOP(side_by_side)
for (; i + FT_VECTORS * FT_LANES <= stop; i += FT_VECTORS * FT_LANES) {
    FT_PIPELINE
    FT_EACH_VECTOR
    {
        const int j = i + v * FT_LANES;
        FT_READ(j)
        FT_EACH_LANE
        {
            FT_ELEMENT(FT_INDEX(row * inner + j))
            FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
        }
        FT_PUT(j)
    }
}
#endif
#endif
FT_LOOP(vectors)
for (; i + FT_LANES <= stop; i += FT_LANES) {
    FT_PIPELINE
    FT_READ(i)
    FT_EACH_LANE
    {
        FT_ELEMENT(FT_INDEX(row * inner + i))
#if FT_FOLDS
        FT_LANE(sum[0]) = ft_combine(FT_LANE(sum[0]), lifted);
#endif
    }
    FT_PUT(i)
}
if (i < stop) {
    FT_READ_PART(i, stop - i)
    FT_EACH_LANE
    {
        FT_ELEMENT(FT_INDEX(row * inner + i))
#if FT_FOLDS
        FT_BELOW(stop - i)
        FT_LANE(sum[0]) = ft_combine(FT_LANE(sum[0]), lifted);
#endif
    }
    FT_PUT_PART(i, stop - i)
}
#if FT_FOLDS
#include "fold_levels_inner.h"
#endif
