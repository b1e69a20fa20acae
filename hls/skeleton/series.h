// Kernels one after another, which units need not wait for between: FT_MEMBERS calls each, for the part of a unit, or
// for all of it where each unit has results of its own.
// g: of each member its units, then where g has what it is told, or its n; then the bytes from unit to unit of what each has
// a copy of; then what the members are told.
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_MEMBERS
}
