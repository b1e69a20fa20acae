"""Kernels that a user writes as C expressions: what is parsed, and what is refused."""

from __future__ import annotations

import gc
import weakref

import pytest

import ftensor as ft
from ftensor.own.expression import Parser, SyntaxNode
from ftensor.rows.catalogue import ROWS, is_op


def shape(node: SyntaxNode) -> str:
    inner = " ".join(shape(part) for part in node.parts)
    return f"({node.word} {inner})" if node.parts else node.word


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c - d", "(- (+ a (* b c)) d)"),
        ("a < b && c == d || !e", "(|| (&& (< a b) (== c d)) (! e))"),
        ("a ? b : c ? d : e", "(? a b (? c d e))"),
        ("-a * ~b", "(* (- a) (~ b))"),
        ("a << 1 + 2 & 3", "(& (<< a (+ 1 2)) 3)"),
        ("f(a, g(b)) /* c */ // d", "(f a (g b))"),
        ("1.5e-3f + .5 + 0x1F", "(+ (+ 1.5e-3f .5) 0x1F)"),
    ],
)
def test_operator_precedence_is_that_of_c(text: str, tree: str) -> None:
    def fail(at: int, problem: str) -> Exception:
        return AssertionError(problem)

    assert shape(Parser(text, fail).whole()) == tree


@pytest.mark.parametrize(
    ("operation", "problem", "column"),
    [
        ("z = x ** 2", r"an expression expected, not '\*'", 8),
        ("z = y", "'y' is not defined", 5),
        ("z = sinn(x)", "'sinn' is not defined; did you mean 'sin'", 5),
        ("z = sin(x, x)", r"sin\(\) takes 1 arguments, not 2", 5),
        ("z = sin", "'sin' is a function", 5),
        ("z = x; while (1);", "an assignment such as", 8),
        ("z = x; system(x)", "an assignment such as", 8),
        ("z = x, x", "';' expected, not ','", 6),
        ("z = x\n#include <a>", "'#' is no part of an expression", 1),
        ('z = x + "a"', "'\"' is no part of an expression", 9),
        ("z = x[0]", r"'\[' is no part of an expression", 6),
        ("z = x * (1 / 2)", "write 1.0 / 2", 12),
        ("z = 010 * x", "010 is octal in C", 5),
        ("z = 1e999 * x", "1e999 is larger than any number", 5),
        ("z = \u0660", "is no part of an expression", 5),
        ("x = 1; z = x", "'x' is an input", 1),
        ("y = x; z = y", "'y' is not defined: declare it", 1),
        ("T exp = x; z = x", "'exp' has a meaning already", 3),
        ("U d = x; z = d", "U is the type of no input", 3),
        ("T d = x", "the result 'z' receives no value", 8),
        ("", "an assignment is missing", 1),
        ("z = (x", r"'\)' expected, not the end", 7),
        ("z = " + "(" * 5000 + "x" + ")" * 5000, "more than 50 brackets", 55),
        ("z = " + "-" * 5000 + "x", "more than 100 operations", 4905),
        ("z = " + "x + " * 500 + "x", "more than 100 operations", 403),
        ("z = x" + " " * 30000, "the text has 30005 characters", 1),
        ("z = " + "isnan(" * 40 + "x" + ")" * 40, "the expression is too long", 5 + 6 * 28),
    ],
)
def test_syntax_errors_name_the_position(operation: str, problem: str, column: int) -> None:
    with pytest.raises(
        ValueError, match=rf"^elementwise\(\): .*{problem}.*, at line \d, column \d+ of `operation`"
    ) as e:
        ft.fpga.elementwise("T x", "T z", operation)
    if "too long" not in problem:
        assert f"column {column} of" in str(e.value)


@pytest.mark.parametrize(
    ("inputs", "results", "kind", "text"),
    [
        ("raw T x", "T z", ValueError, "`x` is raw"),
        ("T x", "U z", ValueError, "the type U of 'z' is not the type of an input"),
        ("T x, T x", "T z", ValueError, "'x' names two parameters"),
        ("T x", "T x", ValueError, "'x' names two parameters"),
        ("flaot x", "float z", ValueError, "'flaot' is no type; did you mean 'float'"),
        ("T exp", "T z", ValueError, "'exp' is a word of the expression"),
        ("T", "T z", ValueError, "'T' is no list of parameters in `in_params`"),
        ("T x; int y", "T z", ValueError, "is no list of parameters"),
        ("", "float z", ValueError, "a kernel needs an input that is not bool"),
        ("bool x", "bool z", ValueError, "a kernel needs an input that is not bool"),
        ("T x", "", ValueError, "is no list of parameters in `out_params`"),
        (", ".join(f"T x{k}" for k in range(9)), "T z", ValueError, "9 inputs, but a kernel has at most 8"),
        (["T x"], "T z", TypeError, "`in_params` must be a str"),
    ],
)
def test_invalid_parameters_are_refused(inputs: str, results: str, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        ft.fpga.elementwise(inputs, results, "z = x")


def test_invalid_names_are_refused() -> None:
    for name, kind in (("add", ValueError), ("a b", ValueError), ("\u0430", ValueError), (3, TypeError)):
        with pytest.raises(kind, match=r"^elementwise\(\)"):
            ft.fpga.elementwise("T x", "T z", "z = x", name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("x", "a + c", "y = a", "0"), "'c' is not defined, at line 1, column 5 of `reduce_expr`"),
        (("q", "a + b", "y = a", "0"), "'q' is not defined, at line 1, column 1 of `map_expr`"),
        (("x", "a + b", "z = a", "0"), "one assignment to 'y' expected"),
        (("x", "a + b", "y = a", ""), "an expression expected, not the end, at line 1, column 1 of `identity`"),
        (("x", "a + b", "y = a", "x"), "'x' is not defined, at line 1, column 1 of `identity`"),
    ],
)
def test_invalid_reductions_are_refused(parts: tuple[str, str, str, str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ft.fpga.reduction("T x", "T y", *parts)


def test_equal_expressions_share_a_kernel() -> None:
    make = ft.fpga.elementwise
    assert make("T x", "T z", "z = x + 1") is make("T x", "T z", "z = x + 1")
    assert make("T x", "T z", "z = x + 1").name != make("T x", "T z", "z = x + 2").name


def test_unreferenced_kernels_leave_the_catalogue() -> None:
    kernels = [ft.fpga.elementwise("T x", "T y", f"y = x * {k}.25") for k in range(300)]
    first, (row,) = weakref.ref(kernels[0]), kernels[0].rows["f"]
    assert row in ROWS and is_op(row.name)
    del kernels
    gc.collect()
    assert first() is None and row not in ROWS and not is_op(row.name)
