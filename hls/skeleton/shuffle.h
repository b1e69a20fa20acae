// The order of random keys: `out` has the positions of the ascending keys, equal keys in the order of their positions.
// The keys are spread evenly, so that their highest bits divide them into buckets of a few keys. Mode 0 counts the keys
// of the buckets and moves their positions there; one unit does this. Mode 1 sorts the buckets.
// `ends` has the end of each bucket. Geometry g: ShuffleGeometry.
#define FT_BUCKET(key) (int)(((ulong)(key) ^ 0x8000000000000000UL) >> (64 - bits))

FT_KERNEL void FT_NAME(
    FT_GLOBAL long *out, FT_GLOBAL const long *keys, FT_GLOBAL int *moved, FT_GLOBAL int *ends, long out_offset,
    long keys_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), bits = G_BITS(g), buckets = 1 << bits;
    FT_GLOBAL const long *from = keys + keys_offset;
    if (G_MODE(g) == 0) {
        for (int b = 0; b < buckets; b++) ends[b] = 0;
        for (int i = 0; i < n; i++) ends[FT_BUCKET(from[i])]++;
        int sum = 0;
        for (int b = 0; b < buckets; b++) {
            const int count = ends[b];
            ends[b] = sum;
            sum += count;
        }
        for (int i = 0; i < n; i++) moved[ends[FT_BUCKET(from[i])]++] = i;
        return;
    }
    FT_FOR_SLAB(b, buckets)
    {
        const int begin = b > 0 ? ends[b - 1] : 0, end = ends[b];
        for (int i = begin; i < end; i++) {
            const int position = moved[i];
            const long key = from[position];
            int to = i;
            for (; to > begin && from[moved[to - 1]] > key; to--) moved[to] = moved[to - 1];
            moved[to] = position;
        }
        for (int i = begin; i < end; i++) out[out_offset + i] = moved[i];
    }
}
