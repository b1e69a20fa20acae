// Adds the offsets of item `rest` of a batch, whose last dim is innermost.
for (int d = dims - 1; d >= 0; d--) {
    const int k = rest % (int)shape[d];
    rest /= (int)shape[d];
    at_a += k * batch_strides[d];
    at_b += k * batch_strides[dims + d];
    at_out += k * batch_strides[2 * dims + d];
    at_added += k * batch_strides[3 * dims + d];
}
