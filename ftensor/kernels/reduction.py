"""The reduce skeletons' holes: the state that is folded, and how values enter and leave it."""

from __future__ import annotations

from .key import KernelKey


def fields(key: KernelKey) -> list[tuple[str, str]]:
    """(type, name) of the fields of a state."""
    r = key.reduction
    assert r is not None
    return [("FT_C" if r.complex else "FT_V", "x")] + ([("FT_I", "i")] if r.arg else [])


def identity(key: KernelKey) -> list[str]:
    """Lines that make the state r of nothing."""
    r = key.reduction
    assert r is not None
    return [f"r.x = {r.identity};"] + (["r.i = (FT_I)(0x7fffffff);"] if r.arg else [])


def combine(key: KernelKey) -> list[str]:
    """Lines that fold the states p and q into r."""
    r = key.reduction
    assert r is not None
    if not r.arg:
        return [f"const {'FT_C' if r.complex else 'FT_V'} x = p.x, y = q.x;", f"r.x = {r.combine};"]
    return [
        "const FT_V x = p.x, y = q.x;",
        "const FT_I i = p.i, j = q.i;",
        f"const FT_M later = (FT_INDEX_MASK(j < i) && ({r.combine})) || ({r.beats});",
        "r.x = later ? y : x;",
        "r.i = FT_MASK_INDEX(later) ? j : i;",
    ]


def state_words(key: KernelKey) -> str:
    """The state's type with its identity, fold, choice and rotation, for either dialect."""
    r = key.reduction
    assert r is not None
    if r.complex:
        choose_x = "r.x.re = m ? p.x.re : q.x.re; r.x.im = m ? p.x.im : q.x.im;"
        turn_x = "r.x.re = ft_rotate(p.x.re, step); r.x.im = ft_rotate(p.x.im, step);"
    else:
        choose_x, turn_x = "r.x = m ? p.x : q.x;", "r.x = ft_rotate(p.x, step);"
    if r.arg:
        choose_x += " r.i = FT_MASK_INDEX(m) ? p.i : q.i;"
        turn_x += " r.i = ft_rotate(p.i, step);"
    fold, nothing = " ".join(combine(key)), " ".join(identity(key))
    return "\n".join(
        [
            f"#define FT_VECTORS {r.vectors}",
            "typedef struct { " + " ".join(f"{t} {n};" for t, n in fields(key)) + " } FT_S;",
            f"FT_FN_ONCE FT_S ft_identity(void) {{ FT_S r; {nothing} return r; }}",
            f"FT_FN_ONCE FT_S ft_combine(FT_S p, FT_S q) {{ FT_S r; {fold} return r; }}",
            f"FT_FN_ONCE FT_S ft_choose(FT_M m, FT_S p, FT_S q) {{ FT_S r; {choose_x} return r; }}",
            "#ifdef FT_ROTATES",
            f"FT_FN_ONCE FT_S ft_turn(FT_S p, int step) {{ FT_S r; {turn_x} return r; }}",
            "#endif",
        ]
    )


def state_outputs(key: KernelKey) -> list[str]:
    """Lines that name the folded value x (and i) for the output expressions."""
    r = key.reduction
    assert r is not None
    lines = [f"const {'FT_C' if r.complex else 'FT_V'} x = state.x;"]
    return lines + (["const FT_I i = state.i;"] if r.arg else [])


def lift(key: KernelKey) -> list[str]:
    """Lines that make a state of one element; `position` counts along the reduced space."""
    r = key.reduction
    assert r is not None
    position = ("b" if r.stage == "second" else "(position)") if r.arg else ""
    lines = ["FT_S lifted;", f"lifted.x = {r.lift};"]
    return lines + ([f"lifted.i = {position};"] if r.arg else [])
