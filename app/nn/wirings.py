"""Where the norm goes: one function and one table row per wiring.

`x` is the residual stream, `branch` the sublayer (attention or FFN), `norm` the normalisation.
A wiring asks no more of them than `+` and a call, so the same two lines run on arrays (numbers
only), on Tensors (numbers and the way back) and on symbols (the diagram and the formula).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def post_ln(x: Any, branch: Callable[[Any], Any], norm: Callable[[Any], Any]) -> Any:
    return norm(x + branch(x))


def pre_ln(x: Any, branch: Callable[[Any], Any], norm: Callable[[Any], Any]) -> Any:
    return x + branch(norm(x))


@dataclass(frozen=True)
class Wiring:
    """What else there is to know about a wiring.

    `final_norm`: one more norm stands after the last layer; "output" means after it.
    `depends_on_depth`: the step or its weights change with N, so that the first layers of a deep
    stack are not the layers of a shallow one, and every depth needs a pass of its own.
    """

    name: str
    step: Callable[[Any, Callable[[Any], Any], Callable[[Any], Any]], Any]
    final_norm: bool
    depends_on_depth: bool
    source: str


WIRINGS: dict[str, Wiring] = {
    wiring.name: wiring
    for wiring in (
        Wiring(
            name="post_ln",
            step=post_ln,
            final_norm=False,
            depends_on_depth=False,
            source="Vaswani et al. 2017, section 3.1; Xiong et al. 2020, Figure 1(a)",
        ),
        Wiring(
            name="pre_ln",
            step=pre_ln,
            final_norm=True,
            depends_on_depth=False,
            source="Xiong et al. 2020, Figure 1(b)",
        ),
    )
}
