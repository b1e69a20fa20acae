// Input $port, the taps of a filter.
FT_STAGE {
    FT_LOOP(int k, $count) {
        FT_ELEMENT(offset + k)
        const $type w = $take;
        $writes
    }
}
