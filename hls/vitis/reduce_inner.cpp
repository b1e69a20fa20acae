// The loop below, for any of these. A pipelined loop starts a step as soon as the state of the one
// before is there: its interval is what the latency of `combine` leaves, so it is not asked for.
//
$comment
template <typename fold>
static void run(
    $pointers,
    $scalars, const int *geometry, int ft_unit, int ft_units)
$body
