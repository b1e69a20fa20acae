// With FT_PROCESSES, processes of their own read and write the beats. FT_NEXT_BEAT reads the next one into `beat`,
// FT_WRITE_BEAT writes `out_beat`.
#if FT_PROCESSES
typedef hls::vector<FT_T, FT_LANES> ft_beat;
#define FT_NEXT_BEAT                                                  \
    {                                                                 \
        const ft_beat next_ = beats.read();                           \
        for (int l_ = 0; l_ < FT_LANES; l_++) beat[l_] = next_[l_];   \
    }
#define FT_WRITE_BEAT                                                 \
    {                                                                 \
        ft_beat full_;                                                \
        for (int l_ = 0; l_ < FT_LANES; l_++) full_[l_] = out_beat[l_];   \
        results.write(full_);                                         \
    }
// Writes the elements of beat `at` that are in [to, end), and keeps the others.
FT_NOINLINE void ft_write_part(ft_beat *out, ft_beat part, long at, long to, long end)
{
    ft_beat beat = out[at];
    for (int l = 0; l < FT_LANES; l++) {
        const FT_T old = beat[l], own = part[l];
        beat[l] = at * FT_LANES + l >= to && at * FT_LANES + l < end ? own : old;
    }
    out[at] = beat;
}
// Writes the beats of the elements [to, end).
FT_NOINLINE void ft_write_line(ft_beat *out, hls::stream<ft_beat> &results, long to, long end)
{
    const long first = (to + FT_LANES - 1) / FT_LANES, last = end / FT_LANES;
    if (to < end && to % FT_LANES != 0) ft_write_part(out, results.read(), to / FT_LANES, to, end);
    FT_LOOP(write_beats)
    for (long t = first; t < last; t++) {
        FT_PIPELINE
        out[t] = results.read();
    }
    if (first <= last && end % FT_LANES != 0) ft_write_part(out, results.read(), last, to, end);
}
#else
#define FT_NEXT_BEAT FT_BEAT_LOAD(beat, in, held)
#define FT_WRITE_BEAT FT_BEAT_STORE(out_beat, out, where)
#endif
