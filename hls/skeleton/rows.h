// Operands with strides: nested counters iterate over the outer dims, vectors over the inner dim. Rows are cut
// into chunks, so that few long rows still occupy every compute unit. Geometry g: RowsGeometry, all in
// elements. Holes: as in map.h, with offsets at[operand] and inner strides inner_strides[operand].
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_SETUP
    const int dims = G_DIMS(g), inner = G_INNER(g), chunk = G_CHUNK(g), chunks = G_CHUNKS(g), total = G_TOTAL(g);
    FT_GLOBAL const int *shape = G_SHAPE(g), *strides = G_STRIDES(g), *inner_strides = G_INNER_STRIDES(g, FT_OPERANDS);
    FT_RESULTS((long)total * chunk)
    const int begin = ft_slab(total, FT_UNIT, FT_UNITS), end = ft_slab(total, FT_UNIT + 1, FT_UNITS);
    int counter[FT_MAX_DIMS], at[FT_OPERANDS];
    for (int k = 0; k < FT_OPERANDS; k++) at[k] = 0;
    int row = begin / chunks, part = begin % chunks;
    for (int d = dims - 1; d >= 0; d--) {  // the only divisions: the first row of this unit
        counter[d] = row % shape[d];
        row /= shape[d];
        for (int k = 0; k < FT_OPERANDS; k++) at[k] += counter[d] * strides[k * dims + d];
    }
    for (int w = begin; w < end; w++) {
        const int stop = inner - part * chunk < chunk ? inner : (part + 1) * chunk;
        int i = part * chunk;
        for (; i + FT_LANES <= stop; i += FT_LANES) {
            FT_PIPELINE
            FT_READ(i)
            FT_EACH_LANE { FT_COMPUTE }
            FT_WRITE(i)
        }
        if (i < stop) {
            FT_READ_PART(i, stop - i)
            FT_EACH_LANE { FT_COMPUTE }
            FT_WRITE_PART(i, stop - i)
        }
        if (++part == chunks) {
            part = 0;
            for (int d = dims - 1; d >= 0; d--) {
                for (int k = 0; k < FT_OPERANDS; k++) at[k] += strides[k * dims + d];
                if (++counter[d] < shape[d]) break;
                for (int k = 0; k < FT_OPERANDS; k++) at[k] -= shape[d] * strides[k * dims + d];
                counter[d] = 0;
            }
        }
    }
}
