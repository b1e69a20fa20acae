// Opens what one compute type needs, within a namespace of its own: the types that the helper headers
// (math.h, complex.h, ...) speak of. Set before: FT_T and the FT_ settings; end_compute.h takes all back.
typedef FT_T FT_V;
typedef bool FT_M;
typedef int FT_I;
#ifdef __SYNTHESIS__
#include "functions.h"
#endif
