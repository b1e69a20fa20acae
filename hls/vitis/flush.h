// For the C simulation of `ftensor build --subnormals flush`: while an object of this class exists, the processor
// treats subnormal operands and results as zeros, each with its sign, as the floating-point cores of an FPGA do. This
// holds for float and double; integers and copied bits are unchanged.
#pragma once
#include <cstdint>

struct ft_flush {
#if defined(__SSE__)
    const unsigned before;
    ft_flush() : before(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(before | 0x8040); }
    ~ft_flush() { __builtin_ia32_ldmxcsr(before); }
#elif defined(__aarch64__)
    uint64_t before;
    ft_flush()
    {
        __asm__ volatile("mrs %0, fpcr" : "=r"(before));
        __asm__ volatile("msr fpcr, %0" ::"r"(before | (1 << 24)));
    }
    ~ft_flush() { __asm__ volatile("msr fpcr, %0" ::"r"(before)); }
#else
#error "subnormals are flushed on x86-64 and on 64-bit ARM only"
#endif
};
