// Input $port, an element for each row.
FT_STAGE {
    FT_LOOP(int row, rows) {
        FT_ELEMENT(offset + row)
        const $type w = $take;
        $writes
    }
}
