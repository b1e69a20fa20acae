// Stand-in for Vitis' hls_np_channel.h: channels from one producer to several consumers, and back. A task passes the
// elements on. `load_balance` gives an element to the consumer that has the fewest, and takes one from any producer.
#pragma once
#include "hls_task.h"

namespace hls {
namespace split {

template <typename T, unsigned PORTS, unsigned DEPTH = 2, unsigned PORT_DEPTH = 2> class round_robin
{
    unsigned at = 0;
    void pass() { out[at].write(in.read()), at = (at + 1) % PORTS; }
    static void pass_of(round_robin &one) { one.pass(); }

  public:
    stream<T, DEPTH> in;
    stream<T, PORT_DEPTH> out[PORTS];
    explicit round_robin(const char *name = "split") : in(name), passes(pass_of, *this) {}

  private:
    task passes;
};

template <typename T, unsigned PORTS, unsigned DEPTH = 2, unsigned PORT_DEPTH = 2> class load_balance
{
    static void pass_of(load_balance &one)
    {
        const T x = one.in.read();
        unsigned least = 0;
        for (unsigned k = 1; k < PORTS; k++) {
            if (one.out[k].size() < one.out[least].size()) least = k;
        }
        one.out[least].write(x);
    }

  public:
    stream<T, DEPTH> in;
    stream<T, PORT_DEPTH> out[PORTS];
    explicit load_balance(const char *name = "split") : in(name), passes(pass_of, *this) {}

  private:
    task passes;
};

}  // namespace split
namespace merge {

template <typename T, unsigned PORTS, unsigned PORT_DEPTH = 2, unsigned DEPTH = 2> class round_robin
{
    unsigned at = 0;
    static void pass_of(round_robin &one) { one.out.write(one.in[one.at].read()), one.at = (one.at + 1) % PORTS; }

  public:
    stream<T, PORT_DEPTH> in[PORTS];
    stream<T, DEPTH> out;
    explicit round_robin(const char *name = "merge") : out(name), passes(pass_of, *this) {}

  private:
    task passes;
};

template <typename T, unsigned PORTS, unsigned PORT_DEPTH = 2, unsigned DEPTH = 2> class load_balance
{
    static void pass_of(load_balance &one)
    {
        for (unsigned k = 0; k < PORTS; k++) {
            T x;
            if (one.in[k].read_nb(x)) one.out.write(x);
        }
    }

  public:
    stream<T, PORT_DEPTH> in[PORTS];
    stream<T, DEPTH> out;
    explicit load_balance(const char *name = "merge") : out(name), passes(pass_of, *this) {}

  private:
    task passes;
};

}  // namespace merge
}  // namespace hls
