// $comment: folds a row's beats into $state_count states in turn, and combines these after the row's last beat.
FT_STAGE {
    const $state nothing = $identity();
    $state sum[8][LANES];  // a shift register: sum[7] is the oldest state
    $kept
    int column = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        const int left = $length - column * LANES;
        $reads
        FT_UNROLL
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
            $values
            $state lifted, before = nothing;
            $lift
            if (ft_lane >= left) lifted = nothing;
            if (column >= 8) before = sum[7][ft_lane];
            FT_UNROLL
            for (int k = 7; k > 0; k--) sum[k][ft_lane] = sum[k - 1][ft_lane];
            sum[0][ft_lane] = $combine(before, lifted);
        }
        if (column == $beats - 1) {
            $state tree[$state_count][LANES];
            FT_UNROLL
            for (int k = 0; k < $state_count; k++) {
                FT_UNROLL
                for (int l = 0; l < LANES; l++) tree[k][l] = sum[$state_count - 1 - k][l];
            }
            FT_UNROLL
            for (int half_ = 4; half_ > 0; half_ /= 2) {
                FT_UNROLL
                for (int k = 0; k < half_ && k + half_ < $state_count; k++) {
                    FT_UNROLL
                    for (int l = 0; l < LANES; l++) tree[k][l] = $combine(tree[k][l], tree[k + half_][l]);
                }
            }
            FT_UNROLL
            for (int half_ = LANES / 2; half_ > 0; half_ /= 2) {
                FT_UNROLL
                for (int l = 0; l < half_; l++) tree[0][l] = $combine(tree[0][l], tree[0][l + half_]);
            }
            $finished
            $writes
        }
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
