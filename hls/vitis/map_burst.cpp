// Reads a block of each operand into local memory in one burst, computes it there, and writes it back in one
// burst. Transfers and arithmetic alternate.
const int BLOCK = $block;  // beats: 4 KiB at the widest port
$buffers
blocks:
for (int block = 0; block < slab.total; block += BLOCK) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
    const int first = slab.first + block, whole = slab.count - block < BLOCK ? slab.count - block : BLOCK;
    const int tail = whole < BLOCK ? slab.rest : 0, total = whole + (tail > 0);
    $reads
    ft_map_block(out0_block, of, out0_offset, first, total$blocks);
    ft_write_port<LANES>(out0, out0_block, out0_offset, first, whole, tail);
}
