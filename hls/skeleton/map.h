// Every operand is one contiguous run (or a single value): read a vector, compute, write a vector.
// Each compute unit takes one slab of the vectors; the last unit also takes the end that fills no vector.
// Holes: FT_NAME FT_PARAMS FT_SETUP FT_RESULTS(count) FT_READ(i) FT_READ_PART(i, m) FT_COMPUTE FT_WRITE(i) FT_WRITE_PART(i, m)
FT_KERNEL void FT_NAME(FT_PARAMS, int n FT_UNIT_PARAMS)
{
    FT_SETUP
    FT_RESULTS(n)
    const int vectors = n / FT_LANES, rest = n % FT_LANES;
    FT_FOR_SLAB(v, vectors)
    {
        FT_PIPELINE
        const int i = v * FT_LANES;
        FT_READ(i)
        FT_EACH_LANE { FT_COMPUTE }
        FT_WRITE(i)
    }
    if (rest > 0 && FT_UNIT == FT_UNITS - 1) {
        const int i = vectors * FT_LANES;
        FT_READ_PART(i, rest)
        FT_EACH_LANE { FT_COMPUTE }
        FT_WRITE_PART(i, rest)
    }
}
