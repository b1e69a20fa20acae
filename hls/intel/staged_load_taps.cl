// Input $port, the taps of a filter.
FT_KERNEL void $name($parameters)
{
    $slab
    for (int k = 0; k < $count && rows > 0; k++) {
        const long at = $offset + k;
        const $type w = $take;
        $writes
    }
}
