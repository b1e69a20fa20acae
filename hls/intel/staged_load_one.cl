// Input $port, one element for all rows.
FT_KERNEL void $name($parameters)
{
    $slab
    const long at = $offset;
    const $type w = $take;
    for (int row = 0; row < rows; row++) {
        $writes
    }
}
