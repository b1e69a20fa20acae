// Short rows with a constant stride, each folded to one result, in stages: `turns` folds one piece per cycle,
// of $turns rows in turn.
template <typename fold>
static void turns(
    $streams,
    fold of, int operands, int length, int rows)
{
    typedef typename fold::state state;
    state sum[FT_INTERLEAVED_ROWS][LANES];
#pragma HLS ARRAY_PARTITION variable=sum dim=0 complete
    $kept
    const state nothing = of.identity();
    const int pieces = (length + LANES - 1) / LANES, blocks = (rows + FT_INTERLEAVED_ROWS - 1) / FT_INTERLEAVED_ROWS;
    ft_row_cursor at = {0, 0, 0};
fold_interleaved:
    for (long i = 0; i < (long)blocks * pieces * FT_INTERLEAVED_ROWS; i++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=8 max=65536
// An iteration reads states that were written FT_INTERLEAVED_ROWS iterations before, none later.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=8 true
        const bool here = at.block + at.row < rows;
        const int left = length - at.piece * LANES;
        $receive
        state one[LANES];
#pragma HLS ARRAY_PARTITION variable=one complete
        for (int lane = 0; lane < LANES; lane++) {
            const state lifted = $lift;
            const state before = ft_select(at.piece == 0, nothing, sum[at.row][lane]);
            one[lane] = of.combine(before, ft_select(lane < left, lifted, nothing));
            sum[at.row][lane] = one[lane];
        }
        if (here && at.piece == pieces - 1) {
            ft_fold_tree(one, of);
            $results
            of.finish(one[0]$finished);
            $send
        }
        ft_next_row(at, FT_INTERLEAVED_ROWS, pieces);
    }
}

template <typename fold>
static void run_rows(
    $pointers,
    $numbers, fold of, int operands, int length, int rows)
{
#pragma HLS DATAFLOW
    $fifos
    $fetch
    turns<fold>($passed, operands, length, rows);
    $leave
}
