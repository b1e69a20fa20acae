// Input $port, one element for all rows.
FT_STAGE {
    FT_ELEMENT(offset)
    const $type w = $take;
    FT_LOOP(int row, rows) {
        $writes
    }
}
