// Loads the matrices of a block.
const int first = block * group, some = items - first < group ? items - first : group;
FT_GLOBAL FT_T *x = FT_AT(a, a_offset + first * step);
FT_LOOP(load)
for (int t = 0; t < some * size; t++) {
    FT_PIPELINE
    held[t] = ft_get(x, t);
}
