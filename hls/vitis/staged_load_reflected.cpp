// Input $port as a signal that is reflected at both ends, half a row each: the beats of rows `first` to
// `first` + `rows`, each of which begins $hop beats after the one before, of `total` rows in all. Element k before
// the signal is element k of it, and element k behind it is the one k before the last.
static void $signal(const $beat *port, hls::stream<$beat > &to, long offset, int rows, int first, int total)
{
    const $beat *from = port + offset / LANES;
    const long begin = (long)first * $hop, end = begin + (long)(rows - 1) * $hop + $beats;
    const long half = $beats / 2, behind = half + (long)(total - 1) * $hop;
    const long inner = half < begin ? begin : half < end ? half : end;
    const long outer = behind < begin ? begin : behind < end ? behind : end;
    $beat next = from[begin < half ? half - begin : 0];
    FT_SPAN(signal_before, begin, inner) {
        const $beat got = from[half - v - 1];
        $beat w;
        for (int l = 0; l < LANES; l++) w[l] = got[(LANES - l) % LANES];
        w[0] = next[0];
        next = got;
        to.write(w);
    }
    FT_SPAN(signal, inner, outer) {
        to.write(from[v - half]);
    }
    const long last = 2 * behind - half - 1 - outer;
    next = from[last < behind - half ? last : 0];
    FT_SPAN(signal_after, outer, end) {
        const $beat got = from[2 * behind - half - 2 - v];
        $beat w;
        for (int l = 0; l < LANES; l++) w[l] = next[(2 * LANES - 2 - l) % LANES];
        w[LANES - 1] = got[LANES - 1];
        next = got;
        to.write(w);
    }
}
