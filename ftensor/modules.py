"""Modules without weights, such as `ft.nn.ReLU()`: losses, activations, pools.

A module stores the options of a function in `ft.nn.functional`. For modules with weights use
torch's, which run on the device (docs/torch-device.md).
"""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import Any

from ._tensor import Tensor
from .ops.bind import add_class
from .rows.catalogue import ENTRIES

# "Class" or "Class:function", for modules of one, two and three tensors.
_ONE = """
AdaptiveAvgPool1d:adaptive_avg_pool1d AdaptiveAvgPool2d:adaptive_avg_pool2d
AdaptiveAvgPool3d:adaptive_avg_pool3d AvgPool1d:avg_pool1d AvgPool2d:avg_pool2d
AvgPool3d:avg_pool3d CELU ChannelShuffle:channel_shuffle Dropout Dropout1d Dropout2d Dropout3d
ELU FeatureAlphaDropout:feature_alpha_dropout AlphaDropout:alpha_dropout GELU GLU Hardshrink
Hardsigmoid Hardswish Hardtanh LeakyReLU:leaky_relu LocalResponseNorm:local_response_norm
LogSigmoid LogSoftmax:log_softmax LPPool1d:lp_pool1d LPPool2d:lp_pool2d Mish
PixelShuffle:pixel_shuffle PixelUnshuffle:pixel_unshuffle ReLU ReLU6 SELU SiLU Sigmoid Softmax
Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold Unfold
"""
_TWO = """
BCELoss:binary_cross_entropy BCEWithLogitsLoss:binary_cross_entropy_with_logits
CosineSimilarity:cosine_similarity CrossEntropyLoss:cross_entropy
HingeEmbeddingLoss:hinge_embedding_loss HuberLoss:huber_loss KLDivLoss:kl_div L1Loss:l1_loss
MSELoss:mse_loss MultiLabelMarginLoss:multilabel_margin_loss
MultiLabelSoftMarginLoss:multilabel_soft_margin_loss MultiMarginLoss:multi_margin_loss
NLLLoss:nll_loss PairwiseDistance:pairwise_distance PoissonNLLLoss:poisson_nll_loss
SmoothL1Loss:smooth_l1_loss SoftMarginLoss:soft_margin_loss
"""
_THREE = """
CosineEmbeddingLoss:cosine_embedding_loss GaussianNLLLoss:gaussian_nll_loss
MarginRankingLoss:margin_ranking_loss TripletMarginLoss:triplet_margin_loss
"""
# Parameters of functions that modules do not have.
_OF_FUNCTIONS = frozenset(["_stacklevel", "dtype", "training", "out"])
# torch's parameters of modules whose order or defaults differ from those of the function.
_PARAMETERS = {
    "BCEWithLogitsLoss": "weight=None size_average=None reduce=None reduction='mean' pos_weight=None",
    "CosineEmbeddingLoss": "margin=0.0 size_average=None reduce=None reduction='mean'",
    "GaussianNLLLoss": "full=False eps=1e-6 reduction='mean'",
    "HuberLoss": "reduction='mean' delta=1.0",
    "KLDivLoss": "size_average=None reduce=None reduction='mean' log_target=False",
    "SmoothL1Loss": "size_average=None reduce=None reduction='mean' beta=1.0",
    "Softmax": "dim=None",
    "L1Loss": "size_average=None reduce=None reduction='mean'",
    "LogSoftmax": "dim=None",
    "MSELoss": "size_average=None reduce=None reduction='mean'",
    "Softmin": "dim=None",
}


class Module:
    """A function of tensors together with its options, without weights. A call computes the
    function.

    `forward` equals the call. `train`, `eval` and `to` return the module itself; after `eval()`
    dropouts drop nothing.
    """

    function: str
    tensors: int
    training: bool = True
    options: dict[str, Any]
    __signature__: Signature

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.options = dict(self.__signature__.bind(*args, **kwargs).arguments)

    def forward(self, *tensors: Tensor) -> Any:
        """Computes the function with the options."""
        call = ENTRIES[f"nn.functional.{self.function}"].call
        if self._drops:
            return call(*tensors, **self.options, training=self.training)
        return call(*tensors, **self.options)

    __call__ = forward

    @property
    def _drops(self) -> bool:
        return "dropout" in self.function

    def train(self, mode: bool = True) -> Module:
        """Returns the module. A dropout drops elements from now on if `mode` is True."""
        self.training = mode
        return self

    def eval(self) -> Module:
        """Returns the module. A dropout drops nothing from now on."""
        return self.train(False)

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Returns the module itself: it has no weights to move."""
        return self

    def parameters(self) -> list[Tensor]:
        """Returns an empty list: a module has no weights."""
        return []

    def state_dict(self) -> dict[str, Tensor]:
        """Returns an empty dict: a module has no weights."""
        return {}

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({options})"


def _parameters(name: str, function: str, tensors: int) -> list[Parameter]:
    """Returns a module's parameters: those of the function after its tensors."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    if name in _PARAMETERS:
        words = [word.partition("=") for word in _PARAMETERS[name].split()]
        return [Parameter(n, kind, default=eval(value)) for n, _, value in words]
    parameters = list(signature(ENTRIES[f"nn.functional.{function}"].call).parameters.values())
    return [
        p.replace(kind=kind, annotation=Parameter.empty) for p in parameters[tensors:] if p.name not in _OF_FUNCTIONS
    ]


def _module(name: str, function: str, tensors: int) -> type[Module]:
    doc = f"`ft.nn.functional.{function}` with these options, of {tensors} tensors."
    return type(
        name,
        (Module,),
        {
            "function": function,
            "tensors": tensors,
            "__signature__": Signature(_parameters(name, function, tensors)),
            "__doc__": doc,
            "__module__": "ftensor.nn",
        },
    )


CLASSES: dict[str, type[Module]] = {}
for _count, _words in enumerate((_ONE, _TWO, _THREE), 1):
    for _word in _words.split():
        _name, _, _function = _word.partition(":")
        CLASSES[_name] = _module(_name, _function or _name.lower(), _count)


def install() -> None:
    """Adds the classes to `ft.nn`."""
    for kind in CLASSES.values():
        add_class("nn", kind)
