// Result $port, one element: the last row's.
FT_STAGE {
    FT_LOOP(int row, rows) {
        const $type w = $from;
        if (row == rows - 1) {
            FT_PUT_ELEMENT(offset)
        }
    }
}
