// Result $port, an element for each row.
FT_KERNEL void $name($parameters)
{
    $slab
    for (int row = 0; row < rows; row++) {
        const long at = $offset + first + row;
        const $type got = $read;
        $give
    }
}
