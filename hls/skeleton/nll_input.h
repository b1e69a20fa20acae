// The gradient of nll.h with respect to x: -weight[target] * grad (/ total) at each target's class, 0
// elsewhere. A target that is no class is ignored. All arrays are contiguous. Geometry g: NllGeometry, of
// samples; `kind` is 1 if grad has an element for each target.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_E *grad, FT_GLOBAL const long *target, FT_GLOBAL const FT_E *weight,
    FT_GLOBAL const FT_E *total, long out_offset, long grad_offset, long target_offset, long weight_offset,
    long total_offset, long ignored, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int samples = G_ITEMS(g), classes = G_CLASSES(g), inner = G_INNER(g);
    const int weighted = G_WEIGHTED(g), each = G_KIND(g), mean = G_MEAN(g);
    const int begin = ft_slab(samples, FT_UNIT, FT_UNITS), end = ft_slab(samples, FT_UNIT + 1, FT_UNITS);
    const long plane = (long)classes * inner, size = (end - begin) * plane;
    FT_GLOBAL FT_E *losses_grad = out + out_offset + begin * plane;
    FT_WIDE_E w;
    FT_EACH_LANE { FT_LANE(w) = FT_STORED(K(0)); }
    FT_LOOP(zeros)
    for (long k = 0; k < size / FT_LANES; k++) {
        FT_PIPELINE
        FT_E_STORE(w, losses_grad + k * FT_LANES);
    }
    if (size % FT_LANES) FT_E_PUT(w, losses_grad + size - size % FT_LANES, 1, (int)(size % FT_LANES));
    const FT_V by = FT_ONE(total + total_offset);
    for (int sample = begin; sample < end; sample++) {
        FT_LOOP(targets)
        for (int at = 0; at < inner; at++) {
            FT_PIPELINE
            const long i = (long)sample * inner + at, t = target[target_offset + i];
            if (t != ignored && t >= 0 && t < classes) {
                FT_V share = FT_ONE(grad + grad_offset + (each ? i : 0));
                if (mean) share = share / by;
                if (weighted) share = share * FT_ONE(weight + weight_offset + t);
                ft_store_one(-share, losses_grad + (sample - begin) * plane + t * inner + at);
            }
        }
    }
}
