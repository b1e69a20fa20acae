// $comment: each element.
FT_KERNEL void $name($parameters)
{
    $slab
    $kept
    int column = 0;
    for (long v = 0; v < (long)rows * $beats; v++) {
        $reads
        $results
        FT_UNROLL
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
            $computed
        }
        $writes
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
