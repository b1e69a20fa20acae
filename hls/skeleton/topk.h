// The first elements of each row in sorted order, with their positions, for boards. Each cycle inserts one
// element into a row of FT_FIRST registers and drops the last one. Equal elements keep their order. Elements
// are read in beats, whatever the step between them. Geometry g: TopkGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, FT_GLOBAL const FT_B *in, long values_offset, long indices_offset,
    long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int items = G_ITEMS(g), n = G_N(g), many = G_MANY(g), dims = G_DIMS(g);
    const long in_step = G_READ(g), out_step = G_WRITTEN(g);
    const FT_KEY flip = -(FT_KEY)G_DESCENDING(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        long from = in_offset, to = 0;
        int rest = item;
        #include "shared/batch_offsets.h"
        FT_KEY key[FT_FIRST];
        FT_B value[FT_FIRST], beat[FT_LANES];
        int place[FT_FIRST];
        FT_ARRAY_PARTITION(key, 1)
        FT_ARRAY_PARTITION(value, 1)
        FT_ARRAY_PARTITION(place, 1)
        FT_ARRAY_PARTITION(beat, 1)
        for (int s = 0; s < FT_FIRST; s++) {
            key[s] = 0;
            value[s] = 0;
            place[s] = 0;
        }
        for (int l = 0; l < FT_LANES; l++) beat[l] = 0;
        long held = -1;
        FT_LOOP(elements)
        for (int i = 0; i < n; i++) {
            FT_PIPELINE
            if (from / FT_LANES != held) {
                held = from / FT_LANES;
                FT_BEAT_LOAD(beat, in, held)
            }
            const FT_B x = beat[from & (FT_LANES - 1)];
            const FT_KEY own = ft_sort_key(x, flip);
            FT_UNROLL
            for (int k = 0; k < FT_FIRST; k++) {
                const int s = FT_FIRST - 1 - k, before = s > 0 ? s - 1 : 0;
                const int stays = s < i && key[s] <= own;
                const int here = s == 0 || (s <= i && key[before] <= own);
                if (!stays) {
                    value[s] = here ? x : value[before];
                    place[s] = here ? i : place[before];
                    key[s] = here ? own : key[before];
                }
            }
            from += in_step;
        }
        FT_LOOP(results)
        for (int i = 0; i < many; i++) {
            FT_PIPELINE
            values[values_offset + to + i * out_step] = value[0];
            indices[indices_offset + to + i * out_step] = place[0];
            FT_UNROLL
            for (int s = 0; s < FT_FIRST - 1; s++) {
                value[s] = value[s + 1];
                place[s] = place[s + 1];
            }
        }
    }
}
