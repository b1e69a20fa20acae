// Input $port: one row, repeated for every row from local memory. If it is half a spectrum, only its beats are kept:
// the FIFOs carry whole rows, of which stores write the first half.
FT_STAGE {
    FT_BASE
    $beat kept[$kept_beats];
$once:
    for (int b = 0; b < $kept_beats; b++) {
#pragma HLS PIPELINE II=1
        kept[b] = from[b];
    }
    int column = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        const $beat got = kept[$kept_beat];
        FT_VALUES
        $writes
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
