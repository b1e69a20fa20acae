// The loop for any of these folds. A pipelined loop starts an iteration as soon as the state of the one before
// is ready. So its initiation interval follows from the latency of `combine`, and the pragma requests none.
$comment
template <typename fold>
static void run(
    $pointers,
    $scalars, const int *geometry, int ft_unit, int ft_units)
$body
