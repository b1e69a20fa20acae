// The negative log likelihood of target classes: -weight[target] * x[target], where x holds logarithms of
// probabilities. Written for each target, or summed by one unit (and divided by the sum of the weights). total:
// that sum of weights; 0 without a sum. A target that is no class is recorded in `bad` (1, index, value, number
// of classes) and adds nothing. x is (samples, classes, targets of a sample); all arrays are contiguous.
// Geometry g: NllGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL FT_E *total, FT_GLOBAL const FT_E *x, FT_GLOBAL const long *target,
    FT_GLOBAL const FT_E *weight, FT_GLOBAL long *bad, long out_offset, long total_offset, long x_offset,
    long target_offset, long weight_offset, long ignored, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_ITEMS(g), classes = G_CLASSES(g), inner = G_INNER(g), weighted = G_WEIGHTED(g), kind = G_KIND(g);
    FT_SUM sum = 0, weights = 0;
    FT_FOR_SLAB(i, n)
    {
        const long t = target[target_offset + i];
        FT_V loss = K(0);
        if (t != ignored && (t < 0 || t >= classes)) {
            bad[1] = 0;
            bad[2] = t;
            bad[3] = classes;
            bad[0] = 1;
        } else if (t != ignored) {
            int sample = i, at = 0;
            if (inner > 1) {
                sample = i / inner;
                at = i % inner;
            }
            FT_V w = K(1);
            if (weighted) w = FT_ONE(weight + weight_offset + t);
            loss = -(w * FT_ONE(x + x_offset + ((long)sample * classes + t) * inner + at));
            weights += w;
        }
        sum += loss;
        if (kind == 0) ft_store_one(loss, out + out_offset + i);
    }
    if (kind != 0) ft_store_one(K(kind == 1 ? sum / weights : sum), out + out_offset);
    if (FT_UNIT == 0) ft_store_one(K(kind == 0 ? (FT_SUM)0 : weights), total + total_offset);
}
