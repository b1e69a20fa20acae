// hls::stream for the check of the kernels' IR: as in hardware there is nothing behind it but the port of a FIFO.
#pragma once

extern "C" {
void ft_fifo_read(void *fifo, void *to) noexcept;
void ft_fifo_write(void *fifo, const void *from) noexcept;
}

namespace hls {

template <typename T, int DEPTH = 0> class stream;
template <typename T> class stream<T, 0>
{
    char fifo;

  public:
    explicit stream(const char * = "") {}
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    T read()
    {
        T taken;
        ft_fifo_read(&fifo, &taken);
        T out(taken);  // only `taken` has an address
        return out;
    }
    void read(T &x) { x = read(); }
    void write(const T &x)
    {
        T given(x);
        ft_fifo_write(&fifo, &given);
    }
};
template <typename T, int DEPTH> class stream : public stream<T, 0>
{
  public:
    explicit stream(const char *name = "") : stream<T, 0>(name) {}
};

}  // namespace hls
