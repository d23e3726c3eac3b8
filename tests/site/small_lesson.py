"""What the runtime must be able to do: a figure, the widgets in use, a change, NumPy's numbers."""

import traceback

import numpy as np
import panel as pn
from bokeh.document import Document
from bokeh.models import ColumnDataSource, HoverTool, Slider, Span, Whisker
from bokeh.plotting import figure

data = ColumnDataSource({"x": [1.0, 2.0], "y": [3.0, 4.0], "low": [2.0, 3.0], "high": [4.0, 5.0]})
plot = figure(x_axis_type="log", y_axis_type="log", title="Output change")
plot.line("x", "y", source=data, legend_label="Post-LN")
plot.scatter("x", "y", source=data, marker="triangle")
plot.varea("x", "low", "high", source=data)
plot.add_layout(Whisker(source=data, base="x", upper="high", lower="low"))
plot.add_layout(Span(location=3, dimension="height"))
plot.add_tools(HoverTool(tooltips=[("N", "@x")]))

widgets = [
    pn.widgets.IntSlider(name="N", start=1, end=48, value=12),
    pn.widgets.DiscreteSlider(name="width", options=[32, 64, 128], value=64),
    pn.widgets.Select(name="attention", options=["uniform", "softmax"]),
    pn.widgets.RadioButtonGroup(options=["N", "log"]),
    pn.widgets.IntInput(name="seed", value=0),
    pn.widgets.FloatSlider(name="change", start=0, end=1, value=0.1),
    pn.widgets.Checkbox(name="theory"),
    pn.widgets.Button(name="measure"),
]
document = Document()
for item in [*widgets, pn.pane.Bokeh(plot)]:
    document.add_root(item.get_root(document))
document.to_json()
widgets[0].value = 24

x = np.random.default_rng(0).standard_normal((4, 8))
y = np.einsum("ij,kj->ik", x, x)
data.data = {"x": [1.0, 24.0], "y": list(np.linalg.svd(y)[1][:2]), "low": [1.0, 2.0],
             "high": [2.0, 3.0]}
slope = np.polyfit(np.log([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0], 1)[0]
try:
    raise ValueError("the traceback goes to the console")
except ValueError:
    trace = traceback.format_exc()
print(f"roots {len(document.roots)} slider {Slider.__name__} sum {x.sum():.12f} slope {slope:.12f}")
