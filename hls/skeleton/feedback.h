// A loop with feedback: all steps of a user's function, whose states stay in registers from one step to the next. An item
// is one signal; the elements of a step are neighbours in memory, so a step is `items` elements.
// Geometry g: FeedbackGeometry. Holes: FT_NAME FT_PARAMS FT_SETUP FT_READ_STATES(i) FT_READ(i) FT_RESULTS
// FT_COMPUTE FT_WRITE(i) FT_KEEP FT_WRITE_STATES(i)
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_SETUP
    const int items = G_ITEMS(g);
    const long steps = G_STEPS(g), first = G_FIRST(g), stride = G_STRIDE(g);
    FT_FOR_SLAB(item, items)
    {
        FT_READ_STATES(item)
        for (long t = 0; t < steps; t++) {
            const long i = first + t * stride + item;
            FT_READ(i)
            FT_RESULTS
            FT_EACH_LANE { FT_COMPUTE }
            FT_WRITE(i)
            FT_KEEP
        }
        FT_WRITE_STATES(item)
    }
}
