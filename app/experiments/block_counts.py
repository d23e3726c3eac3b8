"""What a stage of a block holds and does: its matrices, parameters and operations.

An operation is one addition or one multiplication, so a product with an m × n matrix takes 2mn of
them per position. Softmax, ReLU and biases of linear maps are left out: they are below one in a
hundred of what is counted wherever the width is more than a few hundred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.experiments.models import Model
from app.nn.stack import StackConfig
from app.nn.wirings import WIRINGS

STAGES = ("x", "attention", "ffn", "norm", "sum", "final")

# Of one LayerNorm per entry: mean 1, difference 1, its square and their sum 2, division 1, gain
# and bias 2. RMSNorm leaves out mean, difference and bias.
LAYER_NORM, RMS_NORM = 7, 4


@dataclass(frozen=True)
class Count:
    """One stage: matrices by name with their shapes, parameters of one, how many there are in the
    whole stack, and operations of one for one position."""

    matrices: Mapping[str, tuple[int, int]]
    parameters: int
    times: int
    operations: int

    @property
    def all_parameters(self) -> int:
        return self.parameters * self.times


def of_stack(stack: StackConfig, wiring: str) -> dict[str, Count]:
    """The stages of a stack of this page. Its matrices are those that it draws; gain and bias of a
    norm are counted, though the probes keep them at 1 and 0."""
    attention, ffn = stack.sublayers
    width, tokens, depth = stack.width, stack.tokens, stack.depth
    return {
        "x": Count({}, 0, 1, 0),
        "attention": Count(
            attention.matrices,
            attention.size,
            depth,
            2 * attention.size + pairs(tokens, width),
        ),
        "ffn": Count(ffn.matrices, ffn.size, depth, 2 * ffn.size),
        "norm": Count({}, 2 * width, 2 * depth, LAYER_NORM * width),
        "sum": Count({}, 0, 2 * depth, width),
        "final": Count({}, 2 * width, int(WIRINGS[wiring].final_norm), LAYER_NORM * width),
    }


def of_model(model: Model, tokens: int) -> dict[str, Count]:
    """The stages of a published model that reads `tokens` positions."""
    d, inner = model.width, model.inner or model.width
    kv = model.kv or inner
    layers = model.layers + model.decoder
    attention = {"W_Q": (d, inner), "W_K": (d, kv), "W_V": (d, kv), "W_O": (inner, d)}
    ffn = {"W_1": (d, model.hidden), "W_2": (model.hidden, d)}
    if model.gated:
        ffn = {"W_1": (d, model.hidden), "W_3": (d, model.hidden), "W_2": (model.hidden, d)}
    of_attention, of_ffn = _size(attention), _size(ffn)
    norm = d if model.rms else 2 * d
    of_norm = (RMS_NORM if model.rms else LAYER_NORM) * d
    # A decoder layer has cross-attention besides, with a norm and a sum of its own.
    return {
        "x": Count({}, (model.vocabulary + model.positions) * d, 1, 0),
        "attention": Count(
            attention,
            of_attention,
            layers + model.decoder,
            2 * of_attention + pairs(tokens, inner),
        ),
        "ffn": Count(ffn, of_ffn, layers, 2 * of_ffn),
        "norm": Count({}, norm, model.norms * layers + model.decoder, of_norm),
        "sum": Count({}, 0, 2 * layers + model.decoder, d),
        "final": Count({}, norm, int(WIRINGS[model.wiring].final_norm), of_norm),
    }


def total(model: Model) -> int:
    """All parameters: those of the stages, and of an output matrix of its own."""
    stages = sum(count.all_parameters for count in of_model(model, 1).values())
    return stages + (0 if model.tied else model.vocabulary * model.width)


def pairs(tokens: int, inner: int) -> int:
    """What attention does for one position besides its matrices: a product of its query with every
    key, and a weighted sum of every value, 2·inner each."""
    return 4 * tokens * inner


def _size(matrices: Mapping[str, tuple[int, int]]) -> int:
    return sum(rows * columns for rows, columns in matrices.values())
