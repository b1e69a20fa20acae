$units

// LENGTH of a row, its LANES and BEATS, the STATES of a fold, the rows of a block (PERIOD), and the rows of a
// unit.
#define LENGTH $length
#define LANES $lanes
#define BEATS $beats
#define STATES $states
#define PERIOD $period
#define TOGETHER $together

FT_FN float ft_select(bool first, float x, float y) { return first ? x : y; }
FT_FN ft_cfloat ft_select(bool first, ft_cfloat x, ft_cfloat y)
{
    const ft_cfloat r = {first ? x.re : y.re, first ? x.im : y.im};
    return r;
}

// Beats of values.
$types

$channels

$parts

$stages
