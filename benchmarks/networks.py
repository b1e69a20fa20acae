"""Networks measured through torch's device, made of torch's layers with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LSTM(nn.Module):
    """Two layers of 32, and a linear layer on their last step."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.last = nn.LSTM(32, 32, 2), nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (steps, batch, 32) to (batch, 10)."""
        out: Tensor = self.last(self.lstm(x)[0][-1])
        return out


Cache = list[tuple[Tensor, Tensor]]


class Block(nn.Module):
    """GPT-2's block: attention with four heads and an MLP, each with a norm before it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, past: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Maps (batch, tokens, width), with the keys and values of all tokens so far."""
        batch, words, width = x.shape
        parts = self.qkv(self.ln_1(x)).view(batch, words, 3, 4, width // 4)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.proj(attended.transpose(1, 2).reshape(batch, words, width))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh")), (k, v)


class GPT2(nn.Module):
    """Three blocks of width 128, 1,000 tokens. The last layer shares the weight of the
    embedding."""

    def __init__(self, width: int = 128, blocks: int = 3, words: int = 1000) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(128, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)

    def forward(self, words: Tensor, past: Cache | None = None) -> tuple[Tensor, Cache]:
        """Returns the logits of each next token, (batch, tokens, 1000), and all keys and values."""
        begun = past[0][0].shape[2] if past else 0
        places = torch.arange(begun, begun + words.shape[1], device=words.device)
        x, kept = self.words(words) + self.places(places), []
        for k, block in enumerate(self.blocks):
            x, both = block(x, past[k] if past else None)
            kept.append(both)
        return self.norm(x) @ self.words.weight.t(), kept


class GPT2Token(nn.Module):
    """A GPT-2 that reads one token in each call, with memory for keys and values of `length`
    tokens."""

    def __init__(self, net: GPT2, length: int) -> None:
        super().__init__()
        self.net = net
        width, blocks = net.norm.weight.shape[0], len(net.blocks)
        self.register_buffer("cache", torch.zeros(blocks, 2, 1, 4, length, width // 4))
        self.register_buffer("indices", torch.arange(length)[None])

    @torch.no_grad()
    def read(self, words: Tensor) -> Tensor:
        """Reads the prompt, (1, tokens), before the first call, and returns the next token, (1,
        1)."""
        logits, past = self.net(words)
        for place, (k, v) in zip(self.cache, past):
            place[:, :, :, : words.shape[1]] = torch.stack((k, v))
        return logits[:, -1:].argmax(-1)

    @torch.no_grad()
    def forward(self, word: Tensor, index: Tensor) -> Tensor:
        """Maps a token, (1, 1), at an index, (1,), to the next token."""
        net, mask = self.net, self.indices <= index
        x = net.words(word) + net.places(index)
        for block, (keys, values) in zip(net.blocks, self.cache):
            q, k, v = block.qkv(block.ln_1(x)).view(1, 1, 3, 4, -1).permute(2, 0, 3, 1, 4)
            keys.index_copy_(2, index, k)
            values.index_copy_(2, index, v)
            attended = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
            x = x + block.proj(attended.transpose(1, 2).reshape(x.shape))
            x = x + block.down(F.gelu(block.up(block.ln_2(x)), approximate="tanh"))
        return (net.norm(x) @ net.words.weight.t()).argmax(-1)


class Basic(nn.Module):
    """ResNet's block of two convolutions."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        shortcut = [nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)]
        self.shortcut = nn.Sequential(*shortcut if stride > 1 else ())

    def forward(self, x: Tensor) -> Tensor:
        """Maps images to images, half as large with a stride of 2."""
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


def resnet18() -> nn.Module:
    """Returns a ResNet of 18 layers with 1,000 classes."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    before = 64
    for width in (64, 128, 256, 512):
        layers += [Basic(before, width, 2 if width > before else 1), Basic(width, width, 1)]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


# MobileNet V3 (large): kernel, channels inside, channels out, squeezed, h-swish, stride.
MOBILE = (
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
)  # fmt: skip


def _conv(before: int, width: int, kernel: int, stride: int, groups: int, act: str) -> nn.Module:
    conv = nn.Conv2d(before, width, kernel, stride, kernel // 2, groups=groups, bias=False)
    acts: dict[str, list[nn.Module]] = {"": [], "relu": [nn.ReLU()], "hswish": [nn.Hardswish()]}
    return nn.Sequential(conv, nn.BatchNorm2d(width), *acts[act])


class Squeeze(nn.Module):
    """Squeeze and excitation: scales each channel by a function of all channels' means."""

    def __init__(self, width: int) -> None:
        super().__init__()
        within = (width // 4 + 4) // 8 * 8
        self.means = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(width, within, 1),
            nn.ReLU(),
            nn.Conv2d(within, width, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Maps images to images of the same shape."""
        return x * self.means(x)


class Inverted(nn.Module):
    """MobileNet's inverted block: wide inside, with a depthwise convolution."""

    def __init__(self, before: int, row: tuple[int, int, int, bool, bool, int]) -> None:
        super().__init__()
        kernel, inside, width, squeezed, swish, stride = row
        act = "hswish" if swish else "relu"
        parts = [_conv(before, inside, 1, 1, 1, act)] if inside != before else []
        parts.append(_conv(inside, inside, kernel, stride, inside, act))
        parts += [Squeeze(inside)] if squeezed else []
        self.parts = nn.Sequential(*parts, _conv(inside, width, 1, 1, 1, ""))
        self.added = stride == 1 and before == width

    def forward(self, x: Tensor) -> Tensor:
        """Maps images to images, half as large with a stride of 2."""
        y: Tensor = self.parts(x)
        return x + y if self.added else y


def mobilenet_v3() -> nn.Module:
    """Returns a MobileNet V3 (large) with 1,000 classes."""
    layers, before = [_conv(3, 16, 3, 2, 1, "hswish")], 16
    for row in MOBILE:
        layers.append(Inverted(before, row))
        before = row[2]
    layers += [_conv(before, 960, 1, 1, 1, "hswish"), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))
