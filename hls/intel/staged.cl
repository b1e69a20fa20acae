$units

// A row, its beats, the states that a fold of it has side by side, the rows of a block, and those of a compute unit.
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
