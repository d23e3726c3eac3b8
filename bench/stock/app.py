"""The small lesson as a Panel user would write it today, for `panel convert --to pyodide-worker`.

Same controls, figures and kind of computation as the lesson of ours it is compared with: a depth
slider, a button, the sensitivity of a Post-LN and a Pre-LN stack against depth (estimated from one
forward pass, measured on request), and the share each sublayer has in its output.
It is only ever converted and opened in a browser, never imported.
"""

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

pn.extension()

WIDTH, TOKENS, DEEPEST, SEEDS, CHANGE = 128, 5, 48, 4, 0.01
COLOURS = {"post_ln": "#b3446c", "pre_ln": "#0067a5"}


def normalise(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def draw_weights(seed):
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((TOKENS, WIDTH))
    return inputs, rng.standard_normal((DEEPEST, 3, WIDTH, WIDTH)) / np.sqrt(WIDTH)


def forward(wiring, inputs, weights):
    """Share of every sublayer in its output, and the last state after the final norm."""
    x, shares = inputs, []
    for value, up, down in weights:
        for branch in (
            lambda h, value=value: np.broadcast_to((h @ value).mean(-2, keepdims=True), h.shape),
            lambda h, up=up, down=down: np.maximum(h @ up, 0) @ down,
        ):
            change = branch(x if wiring == "post_ln" else normalise(x))
            total = x + change
            shares.append(np.mean(change.var(-1) / total.var(-1)))
            x = normalise(total) if wiring == "post_ln" else total
    return np.array(shares), normalise(x)


STACKS = [draw_weights(seed) for seed in range(SEEDS)]
SHARES = {w: np.mean([forward(w, *stack)[0] for stack in STACKS], axis=0) for w in COLOURS}
DEPTHS = np.arange(1, DEEPEST + 1)
MATRICES = np.tile([1, 2], DEEPEST)  # in an attention and in an FFN sublayer


def estimate(wiring):
    return np.cumsum(SHARES[wiring] * MATRICES)[1::2]


def measured(wiring, depth):
    """What a small random change of every matrix does to the output, over the change squared."""
    values = []
    for seed, (inputs, weights) in enumerate(STACKS):
        noise = np.random.default_rng(1000 + seed).standard_normal(weights.shape)
        before = forward(wiring, inputs, weights[:depth])[1]
        moved = weights + CHANGE * noise * weights.std((-2, -1), keepdims=True)
        after = forward(wiring, inputs, moved[:depth])[1]
        values.append(np.sum((after - before) ** 2) / np.sum(before**2) / CHANGE**2)
    return np.mean(values)


depth = pn.widgets.IntSlider(name="Number of layers N", start=1, end=DEEPEST, value=12)
button = pn.widgets.Button(name="Perturb and measure", button_type="primary")
reading = pn.pane.Markdown()

sensitivity = figure(
    height=320, sizing_mode="stretch_width", x_axis_label="layers N", y_axis_label="relative change"
)
shares = figure(
    height=260, sizing_mode="stretch_width", x_axis_label="sublayer", y_axis_label="share"
)
here = {w: ColumnDataSource({"depth": [], "value": []}) for w in COLOURS}
points = {w: ColumnDataSource({"depth": [], "value": []}) for w in COLOURS}
bars = {w: ColumnDataSource({"sublayer": [], "share": []}) for w in COLOURS}
for name, colour in COLOURS.items():
    sensitivity.line(DEPTHS, estimate(name), color=colour, legend_label=name)
    sensitivity.scatter("depth", "value", source=here[name], color=colour, size=9)
    sensitivity.scatter("depth", "value", source=points[name], color=colour, marker="x", size=11)
    shares.line("sublayer", "share", source=bars[name], color=colour, legend_label=name)
sensitivity.legend.location = "top_left"


def show(event=None):
    n = depth.value
    for name in COLOURS:
        here[name].data = {"depth": [n], "value": [estimate(name)[n - 1]]}
        sublayers = np.arange(1, 2 * n + 1)
        bars[name].data = {"sublayer": sublayers, "share": SHARES[name][: 2 * n]}
    ratio = estimate("post_ln")[n - 1] / estimate("pre_ln")[n - 1]
    reading.object = f"At N = {n} layers Post-LN changes **{ratio:.1f} times** as much as Pre-LN."


def perturb(event):
    for name in COLOURS:
        value = measured(name, depth.value)
        points[name].stream({"depth": [depth.value], "value": [value]})


depth.param.watch(show, "value")
button.on_click(perturb)
show()

pn.Column(
    "## How much does a small change of the weights change the output?",
    pn.Row(depth, button),
    pn.pane.Bokeh(sensitivity, sizing_mode="stretch_width"),
    pn.pane.Bokeh(shares, sizing_mode="stretch_width"),
    reading,
    sizing_mode="stretch_width",
).servable(title="Sensitivity")
