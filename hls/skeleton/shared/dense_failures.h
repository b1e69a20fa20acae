// Stores the failure of each matrix of a block.
FT_LOOP(failed)
for (int b = 0; b < some; b++) {
    FT_PIPELINE
    info[info_offset + first + b] = failures[b];
}
