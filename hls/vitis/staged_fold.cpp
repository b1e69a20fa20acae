// $comment: folds a row's beats into $state_count states in turn, and writes these after the row's last beats.
FT_STAGE {
    $state sum[8][LANES];
#pragma HLS ARRAY_PARTITION variable=sum dim=0 complete
    const $state nothing = $identity();
    $kept
    int column = 0;
    // An iteration reads the state that was written 8 iterations before, none later.
    FT_LOOP(long v, (long)rows * $beats) {
        const int turn = (int)(v % 8), left = $length - column * LANES;
        $reads
        ft_vec<$state> now;
        FT_EACH_LANE {
            $values
            $state lifted;
            $lift
            const $state one = ft_select(ft_lane < left, lifted, nothing);
            now[ft_lane] = $combine(ft_select(column < 8, nothing, sum[turn][ft_lane]), one);
            sum[turn][ft_lane] = now[ft_lane];
        }
        if (column >= $beats - $state_count) to.write(now);
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
// Combines the states of each row.
static void $name_of_tree($trees)
{
$name_of_tree:
    for (int row = 0; row < rows; row++) {
#pragma HLS PIPELINE II=$states
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $state sum[$state_count][LANES];
#pragma HLS ARRAY_PARTITION variable=sum dim=0 complete
        for (int k = 0; k < $state_count; k++) {
            const ft_vec<$state> got = from.read();
            for (int l = 0; l < LANES; l++) sum[k][l] = got[l];
        }
        for (int level = 0; level < 3; level++) {
            const int half = 4 >> level;
            for (int k = 0; k < $state_count; k++) {
                for (int l = 0; l < LANES; l++) {
                    if (k < half && k + half < $state_count) sum[k][l] = $combine(sum[k][l], sum[k + half][l]);
                }
            }
        }
        for (int level = 0; level < 6; level++) {  // a beat has at most 64 lanes
            const int half = LANES >> (level + 1);
            for (int l = 0; l < LANES; l++) {
                if (l < half) sum[0][l] = $combine(sum[0][l], sum[0][l + half]);
            }
        }
        $finished
        $writes
    }
}
