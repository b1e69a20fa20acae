// $comment: values of a row.
FT_KERNEL void $name($parameters)
{
    $slab
    for (int row = 0; row < rows; row++) {
        $reads
        $computed
        $writes
    }
}
