// $comment
FT_STAGE {
    $memories
    FT_LOOP(long v, (long)rows * $beats + $ahead) {
        $item got{};
        if (v < (long)rows * $beats) got = $from.read();
        $steps
        if (v >= $ahead) {
            $results
            for (int l = 0; l < LANES; l++) {
                $computed
            }
            $writes
        }
    }
}
