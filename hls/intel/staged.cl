$units

// LENGTH of a row, its LANES and BEATS, the STATES of a fold, the rows of a block (PERIOD), and the rows of a
// unit.
#define LENGTH $length
#define LANES $lanes
#define BEATS $beats
#define STATES $states
#define PERIOD $period
#define TOGETHER $together

// Beats of values.
$types

$channels

$parts

$stages
