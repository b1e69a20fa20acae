// Reads a block of each operand into local memory in one burst, computes it there, and writes it back in one
// burst. Transfers and arithmetic alternate.
static const int BLOCK = $block;  // beats: 4 KiB at the widest port

extern "C" void $name(
    $parameters)
{
    $interfaces
    const int beats = n / LANES, first = ft_slab(beats, ft_unit, ft_units);
    const int count = ft_slab(beats, ft_unit + 1, ft_units) - first;
    // The last compute unit also computes the elements after the last whole beat.
    const int rest = ft_unit == ft_units - 1 ? n % LANES : 0;
    $inputs
    $buffers
blocks:
    for (int block = 0; block < count + (rest > 0); block += BLOCK) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int whole = count - block < BLOCK ? count - block : BLOCK;
        const int tail = whole < BLOCK ? rest : 0, total = whole + (tail > 0);
        $reads
    compute:
        for (int v = 0; v < total; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=$block
            $receive
            out0_block[v] = one_beat($beat_arguments);
        }
        $writes
    }
}
