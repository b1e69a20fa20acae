// Result $port, an element for each row.
FT_STAGE {
    FT_LOOP(int row, rows) {
        FT_STORE_ELEMENT(offset + row)
    }
}
