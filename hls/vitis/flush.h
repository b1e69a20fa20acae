// For the C simulation of `ftensor build --subnormals flush`: while one of these lives, the processor takes a
// subnormal operand for zero and gives zero for a subnormal result, each with its sign, as the floating-point
// cores of an FPGA do. float and double; integers and bits that are moved stay as they are.
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
