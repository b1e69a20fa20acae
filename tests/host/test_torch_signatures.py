"""Names, order, defaults and keyword-only marks of arguments are torch's.

`torch_signatures.txt` has torch's signatures; `make stubs` writes it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import ftensor as ft

from ..oracle import lookup
from ..torch_signatures import FILE, torch_signatures

# Arguments of torch that do not affect values; ftensor accepts those that it can support.
ELSEWHERE = {"layout", "pin_memory", "requires_grad", "memory_format", "names"}
# Arguments that ftensor accepts beyond torch: `out` of a method, which is the function; NumPy's
# names; devices and copies where torch knows only host memory.
MORE = {"out", "axis", "keepdims", "device", "non_blocking"}
# Overloads of torch that ftensor does not accept, and why. A line ends where they differ.
REVIEWED = {
    "it chooses CUDA's kernels": """
        addmm(input, mat1, mat2, out_dtype
        baddbmm(input, batch1, batch2, out_dtype
        bmm(input, mat2, out_dtype
        group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled
        layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable
        mm(input, mat2, out_dtype""",
    "torch's stub or schema says it, torch itself refuses it": """
        Tensor.new_tensor(data, dtype
        linalg.matrix_exp(input, *, out
        nn.functional.elu_(input, alpha=1, scale=1
        Tensor.requires_grad_(mode
        tensor(data, dtype""",
    "a number has a name of its own; here it goes by the tensor's name, or by place": """
        Tensor.subtract(other, alpha=1
        Tensor.subtract_(other, alpha=1
        isin(element,
        isin(elements, test_element,
        result_type(scalar
        rsub(input, other, alpha=1
        subtract(input, other, alpha=1""",
    "torch's stub says 1, its function takes 0 where it is not given": """
        ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1""",
    "by place or by name alone": """
        Tensor.new(other)
        Tensor.new(size, *,
        Tensor.resize_(size,
        Tensor.sum_to_size(size)
        Tensor.to(other,
        lu(A, pivot=True, get_infos=False, out
        repeat_interleave(repeats,""",
    "a storage is no object of a user's": """
        Tensor.new(storage)""",
    "the step's default is seen when it is called, by the forms without it": """
        arange(start, end, step=1""",
    "nothing is pickled": """
        load(f, map_location=None, pickle_module
        save(obj, f, pickle_module""",
}
# Arguments that one function accepts under all of its names, while each of torch's accepts a part.
SHARED = {
    "max_pool1d": "return_indices",
    "max_pool1d_with_indices": "return_indices",
    "max_pool2d": "return_indices",
    "max_pool3d": "return_indices",
    "celu": "inplace",
    "relu": "inplace",
    "selu": "inplace",
    "Tensor.relu": "inplace",
    "tensor_split": "indices_or_sections",
    "Tensor.tensor_split": "indices_or_sections",
}
KNOWN = tuple(form.strip() for forms in REVIEWED.values() for form in forms.strip().split("\n"))


class Form:
    """One of torch's overloads, parsed: names in order, defaults by name, keyword-only names."""

    def __init__(self, text: str) -> None:
        node = ast.parse(f"def f{text[text.index('(') :]}: ...").body[0]
        assert isinstance(node, ast.FunctionDef)
        words = node.args
        self.text = text
        self.order = [a.arg for a in words.args if a.arg not in ELSEWHERE]
        self.star = [words.vararg.arg] if words.vararg else []
        self.named = [a.arg for a in words.kwonlyargs if a.arg not in ELSEWHERE]
        pairs = [*zip(words.args[::-1], words.defaults[::-1])]
        pairs += [(a, d) for a, d in zip(words.kwonlyargs, words.kw_defaults) if d]
        self.defaults = {a.arg: ast.unparse(d) for a, d in pairs if a.arg not in ELSEWHERE}


def listed() -> dict[str, list[Form]]:
    """Returns torch's overloads of each function and method that ftensor has too."""
    forms: dict[str, list[Form]] = {}
    for line in FILE.read_text().splitlines():
        name = line.partition("(")[0]
        owner, _, last = name.rpartition(".")
        place = lookup(ft, owner) if owner and hasattr(ft, owner.partition(".")[0]) else ft
        if inspect.isfunction(getattr(place, last, None)):
            forms.setdefault(name, []).append(Form(line))
    return forms


LISTED = listed()


def differences(name: str, form: Form) -> Iterator[str]:
    """Yields the differences of ftensor's function from one of torch's overloads."""
    signature = inspect.signature(lookup(ft, name))
    first = [0] * name.startswith("Tensor.")
    named = dict.fromkeys(form.named)
    placed = [*form.order, *form.star], named
    by_name = ([], dict.fromkeys(form.order) | named)
    for args, kwargs in (placed, *([] if form.star else [by_name])):
        try:
            signature.bind(*first, *args, **kwargs)
        except TypeError as error:
            yield str(error)
    others = [other.defaults for other in LISTED[name]]
    by_place = {word for other in LISTED[name] for word in other.order}
    for word, own in signature.parameters.items():
        defaults = [d[word] for d in (form.defaults, *others) if word in d]
        if word in form.defaults and not any(same(own.default, d) for d in defaults):
            yield f"{word}={own.default!r}"
        if word in form.named and word not in by_place and own.kind is not own.KEYWORD_ONLY:
            yield f"{word} is not keyword-only"


def same(own: Any, default: str) -> bool:
    """Returns whether a default is torch's. "..." and missing defaults are checked when the
    function is called."""
    shown = repr(own).rpartition(".")[2]
    if own is inspect.Parameter.empty or "..." in (shown, repr(own), default) or shown == default:
        return True
    try:
        value = ast.literal_eval(default)
        # None and an empty list are equal, and so are a list and a tuple.
        return bool(value == own or (list(value) == list(own or ())))
    except (TypeError, ValueError):
        return False


def test_calls_by_position_and_name_are_torchs() -> None:
    """The list above has exactly the exceptions."""
    differing = {form.text: [*differences(name, form)] for name in LISTED for form in LISTED[name]}
    other = {text: why for text, why in differing.items() if why}
    assert len(differing) > 950
    assert not {text: why for text, why in other.items() if not text.startswith(KNOWN)}
    assert not [line for line in KNOWN if not any(text.startswith(line) for text in other)]


def test_functions_accept_no_further_arguments() -> None:
    for name, forms in LISTED.items():
        words = {word for form in forms for word in [*form.order, *form.star, *form.named]}
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        own = [p.name for p in inspect.signature(lookup(ft, name)).parameters.values() if p.kind in kinds]
        more = {*own[name.startswith("Tensor.") :]} - words - MORE - ELSEWHERE
        assert more == ({SHARED[name]} if name in SHARED else set()), name


def test_list_of_signatures_is_up_to_date() -> None:
    pytest.importorskip("torch", reason="the list is torch's")
    assert FILE.read_text() == torch_signatures(), "write it again by `make stubs`"
