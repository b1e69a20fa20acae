// Opens the namespace of one compute type: the types and macros that the helper headers (math.h, complex.h, ...) use.
// Define before: FT_T and the FT_ settings. end_compute.h undefines the macros.
typedef FT_T FT_V;
typedef bool FT_M;
typedef int FT_I;
#ifdef __SYNTHESIS__
#include "functions.h"
#endif
