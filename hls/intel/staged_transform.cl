// $comment
FT_KERNEL void $name($parameters)
{
    $slab
    $tables
    $memories
    $beat got;
    $apart
    for (long v = 0; v < (long)rows * BEATS + $behind; v++) {
        if (v < (long)rows * BEATS) got = $read;
        $beat w = got;
        $steps
        if (v >= $behind) {
            $writes
        }
    }
}
