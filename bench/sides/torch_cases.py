"""The same computations as a PyTorch user would write them: eager autograd, batched over seeds.

Nothing here is ours but the random text. Where a probe goes through runs of seeds, so does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, layer_norm

Case = Callable[[], object]

TOKENS, SEEDS, WIDTH, DEEPEST, CHANGE = 5, 24, 128, 48, 0.01
TOGETHER = 5  # seeds of one run at d = 128, as in the probes

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def norm(x: Tensor) -> Tensor:
    return layer_norm(x, x.shape[-1:])


def uniform_attention(h: Tensor, value: Tensor) -> Tensor:
    return (h.mean(-2, keepdim=True) @ value).expand_as(h)


def feed_forward(h: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return torch.relu(h @ w_1) @ w_2


def branches(value: Tensor, w_1: Tensor, w_2: Tensor) -> Iterator[Callable[[Tensor], Tensor]]:
    yield lambda h: uniform_attention(h, value)
    yield lambda h: feed_forward(h, w_1, w_2)


def draw(seeds: int, width: int) -> list[Tensor]:
    """W_V, W_1, W_2 of one layer."""
    return [torch.randn(seeds, width, width) / width**0.5 for _ in range(3)]


def passes(seeds: int, width: int, layers: int) -> Case:
    drawn = [[m.requires_grad_() for m in draw(seeds, width)] for _ in range(layers)]
    x0 = torch.randn(seeds, TOKENS, width, requires_grad=True)
    r = torch.randn(seeds, TOKENS, width)

    def run() -> None:
        x = x0
        for layer in drawn:
            for branch in branches(*layer):
                x = x + branch(norm(x))
        (norm(x) * r).sum().backward()
        for tensor in (x0, *(m for layer in drawn for m in layer)):
            assert tensor.grad is not None
            tensor.grad = None

    return run


def runs() -> Iterator[int]:
    """How many seeds each run has: the first of all is one."""
    yield 1
    for first in range(1, SEEDS, TOGETHER):
        yield min(TOGETHER, SEEDS - first)


@torch.no_grad()
def forward_of_all() -> None:
    for seeds in runs():
        x0 = torch.randn(seeds, TOKENS, WIDTH)
        states = {"post": x0, "pre": x0}
        shares = []
        for _ in range(DEEPEST):
            for branch in branches(*draw(seeds, WIDTH)):
                for name, x in states.items():
                    brought = branch(x if name == "post" else norm(x))
                    total = x + brought
                    shares.append(brought.var(-1).mean(-1) / total.var(-1).mean(-1))
                    states[name] = norm(total) if name == "post" else total
        torch.stack(shares)


def estimate() -> Case:
    return forward_of_all


@torch.no_grad()
def perturbed() -> None:
    for seeds in runs():
        x0 = torch.randn(seeds, TOKENS, WIDTH)
        states = [[x0, x0], [x0, x0]]  # clean and disturbed, Post and Pre
        for _ in range(DEEPEST):
            layer = draw(seeds, WIDTH)
            changed = [
                m + CHANGE * m.std((-2, -1), keepdim=True) * torch.randn_like(m) for m in layer
            ]
            for of, matrices in zip(states, (layer, changed), strict=True):
                for branch in branches(*matrices):
                    of[0] = norm(of[0] + branch(of[0]))
                    of[1] = of[1] + branch(norm(of[1]))
            for wiring, end in enumerate((lambda x: x, norm)):
                before, after = (end(of[wiring]) for of in states)
                ((after - before) ** 2).sum((-2, -1)) / (before**2).sum((-2, -1))


def perturbation() -> Case:
    return perturbed


def gradients_of_all() -> None:
    for seeds in runs():
        layers = [draw(seeds, WIDTH) for _ in range(12)]
        x0 = torch.randn(seeds, TOKENS, WIDTH)
        head = torch.randn(seeds, WIDTH, 64) / WIDTH**0.5
        targets = torch.randint(64, (seeds, TOKENS))
        for post in (True, False):
            x = x0.clone().requires_grad_()
            wanted = [layer[2].clone().requires_grad_() for layer in layers]
            for (value, w_1, _), w_2 in zip(layers, wanted, strict=True):
                for branch in branches(value, w_1, w_2):
                    x = norm(x + branch(x)) if post else x + branch(norm(x))
            logits = (x if post else norm(x)) @ head
            loss = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
            (loss / TOKENS).backward()
            [m.grad.flatten(1).norm(dim=1) for m in wanted if m.grad is not None]


def profile() -> Case:
    return gradients_of_all


class Layer(torch.nn.Module):
    """Pre-LN, causal, heads of 16, no biases but the norms'."""

    def __init__(self, width: int, ff: int) -> None:
        super().__init__()
        single = {"bias": False, "dtype": torch.float32}
        self.norms = torch.nn.ModuleList(
            torch.nn.LayerNorm(width, dtype=torch.float32) for _ in range(2)
        )
        self.qkv = torch.nn.Linear(width, 3 * width, **single)
        self.out = torch.nn.Linear(width, width, **single)
        self.up = torch.nn.Linear(width, ff * width, **single)
        self.down = torch.nn.Linear(ff * width, width, **single)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        split = self.qkv(self.norms[0](x)).view(batch, tokens, 3, width // 16, 16)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(torch.relu(self.up(self.norms[1](x))))


def steps() -> Case:
    width, tokens, batch, symbols = 32, 16, 8, 50
    embedding = torch.nn.Embedding(symbols, width, dtype=torch.float32)
    layers = [Layer(width, 2) for _ in range(6)]
    final = torch.nn.LayerNorm(width, dtype=torch.float32)
    head = torch.nn.Linear(width, symbols, bias=False, dtype=torch.float32)
    model = torch.nn.Sequential(embedding, *layers, final, head)
    adam = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    text = torch.randint(symbols, (batch, tokens + 1))

    def run() -> None:
        for _ in range(20):
            adam.zero_grad()
            logits = model(text[:, :-1])
            cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
            adam.step()

    return run


CASES: dict[str, Callable[..., Case]] = {
    of.__name__: of for of in (passes, estimate, perturbation, profile, steps)
}
