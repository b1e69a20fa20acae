$units

// A row, its beats, the states that a fold of it has side by side, and the rows of a block.
#define LENGTH $length
#define LANES $lanes
#define BEATS $beats
#define STATES $states
#define PERIOD $period

// Beats of values.
$types

$channels

$parts

$stages
