// Parts of reductions, as templates over a fold, which `ftensor build` writes: an opcode and its scalars, the type of a
// partial result (`state`), identity(), combine(p, q), lift(elements..., position), and finish(state, results...).
#pragma once
#include <type_traits>

#include "lane_access.h"

template <typename fold, int LANES> static inline void ft_begin_lanes(typename fold::state (&one)[LANES], const fold &of)
{
#pragma HLS INLINE
    static_assert(std::is_same<decltype(of.identity()), typename fold::state>::value, "a fold has an identity");
    for (int lane = 0; lane < LANES; lane++) {
#pragma HLS UNROLL
        one[lane] = of.identity();
    }
}

template <typename fold, int LANES>
static inline void ft_combine_lanes(typename fold::state (&to)[LANES], const typename fold::state (&from)[LANES], const fold &of)
{
#pragma HLS INLINE
    for (int lane = 0; lane < LANES; lane++) {
#pragma HLS UNROLL
        to[lane] = of.combine(to[lane], from[lane]);
    }
}

// Folds the first m elements of vectors, or elements that all lanes share, each into its lane's state. `position` is
// that of the first lane.
template <typename fold, int LANES, typename... In>
static inline void ft_fold_lanes(typename fold::state (&sum)[LANES], const fold &of, int position, int m, In... in)
{
#pragma HLS INLINE
    for (int lane = 0; lane < LANES; lane++) {
#pragma HLS UNROLL
        const typename fold::state lifted = of.lift(ft_lane(in, lane)..., position + lane);
        sum[lane] = of.combine(sum[lane], ft_select(lane < m, lifted, of.identity()));
    }
}

// Combines the lanes in a tree, into the state of the first.
template <typename fold, int LANES> static inline void ft_fold_tree(typename fold::state (&one)[LANES], const fold &of)
{
#pragma HLS INLINE
    for (int level = 0; level < 6; level++) {  // a beat has at most 64 lanes
#pragma HLS UNROLL
        const int half = LANES >> (level + 1);
        for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
            if (l < half) one[l] = of.combine(one[l], one[l + half]);
        }
    }
}
