// Kernels in sequence, without barriers between them: FT_MEMBERS calls, each for the part of a unit, or for
// everything if each unit has results of its own. g: for each member its number of units, and the index in g of
// its arguments or its n; then the distance in bytes between the units' copies of buffers; then the members'
// arguments.
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_MEMBERS
}
