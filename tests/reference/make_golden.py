"""Makes golden/*.npz: small stacks of every wiring, computed by PyTorch's autograd in float64.

    python -m venv /somewhere/else && /somewhere/else/bin/pip install torch==2.13.0 numpy==2.2.5
    /somewhere/else/bin/python tests/reference/make_golden.py

Nothing of ours is imported: every wiring is written here a second time, from the papers. The
weights are drawn here too and stand in inputs.npz. The suite reads the files and needs no PyTorch.
States are stored in float64, gradients in float32 (the complex step checks their last digits).
"""

import math
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name PyTorch's own pages give it)

FOLDER = Path(__file__).parent / "golden"
DEPTH, WIDTH, HIDDEN, TOKENS, HEAD, CLASSES, STREAMS = 2, 32, 32, 3, 16, 8, 4
torch.set_default_dtype(torch.float64)


def draw_inputs():
    """Everything random, as numbers that float32 holds exactly."""
    rng = np.random.default_rng(20240229)

    def normal(*shape, size=1.0):
        return (rng.standard_normal(shape) * size).astype(np.float32)

    drawn = {
        "x": normal(TOKENS, WIDTH),
        "memory": normal(TOKENS, WIDTH),
        "head": normal(WIDTH, CLASSES, size=WIDTH**-0.5),
        "targets": rng.integers(CLASSES, size=TOKENS),
    }
    for layer in range(DEPTH):
        for name in (
            "W_Q",
            "W_K",
            "W_V",
            "W_O",
            "cross_W_Q",
            "cross_W_K",
            "cross_W_V",
            "cross_W_O",
        ):
            drawn[f"{layer}.{name}"] = normal(WIDTH, WIDTH, size=WIDTH**-0.5)
        drawn[f"{layer}.W_1"] = normal(WIDTH, HIDDEN, size=(2 / (WIDTH + HIDDEN)) ** 0.5)
        drawn[f"{layer}.W_2"] = normal(HIDDEN, WIDTH, size=(2 / (WIDTH + HIDDEN)) ** 0.5)
    for index in range(2 * DEPTH):
        drawn[f"noise.{index}.read"] = normal(STREAMS, size=0.3)
        drawn[f"noise.{index}.mix"] = normal(STREAMS, STREAMS, size=0.3)
        drawn[f"noise.{index}.write"] = normal(STREAMS, size=0.3)
    return drawn


class Stack:
    """One stack's weights as leaves, its branches, and the state after every sublayer."""

    def __init__(self, drawn, attention, kind="encoder", scale=1.0, qk_norm=False, ffn_norm=False):
        self.attention_kind, self.kind = attention, kind
        self.qk_norm, self.ffn_norm = qk_norm, ffn_norm
        self.drawn = drawn
        self.weights = {}
        for name, value in drawn.items():
            if "W_" in name and self.uses(name):
                weight = torch.tensor(value, dtype=torch.float64)
                if name[-3:] in ("W_V", "W_O", "W_1", "W_2"):
                    weight = weight * scale
                self.weights[name] = weight.requires_grad_()
        self.memory = torch.tensor(drawn["memory"], dtype=torch.float64)
        self.states = []

    def uses(self, name):
        if "cross" in name and self.kind != "decoder":
            return False
        return self.attention_kind == "softmax" or name[-3:] in ("W_V", "W_1", "W_2")

    @property
    def kinds(self):
        return ["attention", "cross_", "ffn"] if self.kind == "decoder" else ["attention", "ffn"]

    def branch(self, layer, kind):
        if kind == "ffn":
            return lambda h: self.ffn(layer, h)
        prefix = "cross_" if kind == "cross_" else ""
        return lambda h: self.attend(layer, prefix, h)

    def ffn(self, layer, h):
        hidden = torch.relu(h @ self.weights[f"{layer}.W_1"])
        if self.ffn_norm:
            hidden = ln(hidden)
        return hidden @ self.weights[f"{layer}.W_2"]

    def attend(self, layer, prefix, h):
        source = self.memory if prefix else h
        causal = self.kind in ("causal", "decoder") and not prefix
        value = source @ self.weights[f"{layer}.{prefix}W_V"]
        if self.attention_kind == "uniform":
            weights = torch.ones(TOKENS, TOKENS)
            weights = torch.tril(weights) if causal else weights
            return (weights / weights.sum(1, keepdim=True)) @ value
        query = h @ self.weights[f"{layer}.{prefix}W_Q"]
        key = source @ self.weights[f"{layer}.{prefix}W_K"]
        if self.qk_norm:
            query, key = rms(query), rms(key)
        heads = [x.view(TOKENS, -1, HEAD).transpose(0, 1) for x in (query, key, value)]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=causal)
        return mixed.transpose(0, 1).reshape(TOKENS, WIDTH) @ self.weights[f"{layer}.{prefix}W_O"]


def ln(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-5)


def rms(x):
    return F.rms_norm(x, x.shape[-1:], eps=1e-5)


def run(stack, step, start, finish=lambda state: state):
    """States, output and gradients; `step(state, branch, index, kind)`."""
    state = start
    stack.states = [state]
    for index in range(len(stack.kinds) * DEPTH):
        layer, kind = index // len(stack.kinds), stack.kinds[index % len(stack.kinds)]
        state = step(state, stack.branch(layer, kind), index, kind)
        stack.states.append(state)
    out = finish(state)
    logits = out @ torch.tensor(stack.drawn["head"], dtype=torch.float64)
    F.cross_entropy(logits, torch.tensor(stack.drawn["targets"])).backward()
    golden = {f"state.{i}": s.detach().numpy() for i, s in enumerate(stack.states)}
    golden["out"] = out.detach().numpy()
    for name, weight in stack.weights.items():
        golden[f"grad.{name}"] = weight.grad.numpy().astype(np.float32)
    golden["grad.x"] = start.grad.numpy().astype(np.float32)
    return golden


def profiled_omegas(stack, x):
    """Admin, first phase: a plain Post-LN pass; ω_i² = 1 + Σ_{j<i} Var f_j."""
    omegas, total = [], 1.0
    with torch.no_grad():
        for index in range(2 * DEPTH):
            f = stack.branch(index // 2, stack.kinds[index % 2])(x)
            omegas.append(math.sqrt(total))
            total += f.var(-1, correction=0).mean().item()
            x = ln(x + f)
    return omegas


def connections(drawn, index, manifold):
    noise = {
        name: torch.tensor(drawn[f"noise.{index}.{name}"], dtype=torch.float64)
        for name in ("read", "mix", "write")
    }
    if not manifold:
        one_hot = torch.zeros(STREAMS)
        one_hot[index % STREAMS] = 1
        return one_hot + noise["read"], torch.eye(STREAMS) + noise["mix"], 1 + noise["write"]
    mix = torch.exp(4 * torch.eye(STREAMS) + noise["mix"])
    for _ in range(20):
        mix = mix / mix.sum(0, keepdim=True)
        mix = mix / mix.sum(1, keepdim=True)
    return (
        torch.sigmoid(noise["read"] - math.log(3)),
        mix,
        2 * torch.sigmoid(noise["write"]),
    )


def golden_of(name, drawn, attention, kind="encoder"):
    x = torch.tensor(drawn["x"], dtype=torch.float64)
    sublayers = DEPTH * (3 if kind == "decoder" else 2)
    start = x.clone().requires_grad_()
    options = {"kind": kind}

    def post(factor):
        return lambda x, f, index, kind: ln(factor(index) * x + f(x))

    if name == "post_ln":
        return run(Stack(drawn, attention, **options), post(lambda i: 1.0), start)
    if name == "pre_ln":
        stack = Stack(drawn, attention, **options)
        return run(stack, lambda x, f, i, k: x + f(ln(x)), start, ln)
    if name == "deepnorm":
        stack = Stack(drawn, attention, scale=(4 * sublayers) ** -0.25, **options)
        return run(stack, post(lambda i: sublayers**0.25), start)
    if name == "admin":
        stack = Stack(drawn, attention, **options)
        omegas = profiled_omegas(stack, x)
        return run(stack, post(lambda i: omegas[i]), start)
    if name == "admin_constant":
        n = sublayers + 1
        omega = math.sqrt(n / math.log(n) - 1)
        return run(Stack(drawn, attention, **options), post(lambda i: omega), start)
    if name == "sandwich":
        stack = Stack(drawn, attention, **options)
        return run(stack, lambda x, f, i, k: x + ln(f(ln(x))), start, ln)
    if name == "olmo2":
        stack = Stack(drawn, attention, qk_norm=True, **options)
        return run(stack, lambda x, f, i, k: x + rms(f(x)), start, rms)
    if name == "pre_rms":
        stack = Stack(drawn, attention, **options)
        return run(stack, lambda x, f, i, k: x + f(rms(x)), start, rms)
    if name == "normformer":
        stack = Stack(drawn, attention, ffn_norm=True, **options)

        def step(x, f, index, kind):
            return x + (f(ln(x)) if kind == "ffn" else ln(f(ln(x))))

        return run(stack, step, start, ln)
    stack = Stack(drawn, attention, **options)

    def step(state, f, index, kind):
        read, mix, write = connections(drawn, index, manifold=name == "mhc")
        branch = f(ln(torch.einsum("j,jtd->td", read, state)))
        return torch.einsum("ij,jtd->itd", mix, state) + write[:, None, None] * branch

    start = x.repeat(STREAMS, 1, 1).requires_grad_()
    return run(stack, step, start, lambda state: ln(state.sum(0)))


WIRINGS = (
    "post_ln", "pre_ln", "deepnorm", "admin", "admin_constant", "sandwich", "olmo2", "pre_rms",
    "normformer", "hyper_connections", "mhc",
)  # fmt: skip


def main():
    drawn = draw_inputs()
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "inputs.npz", **drawn)
    for name in WIRINGS:
        golden = {}
        for attention in ("softmax", "uniform"):
            if (name, attention) != ("deepnorm", "uniform"):
                for key, value in golden_of(name, drawn, attention).items():
                    golden[f"{attention}.encoder.{key}"] = value
        if name in ("post_ln", "pre_ln", "deepnorm"):
            for kind in ("causal", "decoder"):
                for key, value in golden_of(name, drawn, "softmax", kind).items():
                    golden[f"softmax.{kind}.{key}"] = value
        np.savez_compressed(FOLDER / f"{name}.npz", **golden)


if __name__ == "__main__":
    main()
