// Adds the offsets of item `rest` of a batch, whose last dim is innermost: where it is read and written.
for (int d = dims - 1; d >= 0; d--) {
    const int k = rest % (int)shape[d];
    rest /= (int)shape[d];
    from += k * read[d];
    to += k * written[d];
}
