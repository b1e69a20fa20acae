$vector got$cleared;
if (v < (long)rows * $beats) got = $read;
FT_UNROLL
for (int k = 0; k < $line - LANES; k++) line[k] = line[k + LANES];
FT_UNROLL
for (int l = 0; l < LANES; l++) line[$line - LANES + l] = got.lane[l];
