"""The experiments, by the name that pages and links call them."""

from app.experiments.attenuation import Attenuation
from app.experiments.block import Block
from app.experiments.depth import Depth
from app.experiments.experiment import Experiment
from app.experiments.gradients import Gradients
from app.experiments.grid import RecordedGrid
from app.experiments.jacobian import Jacobian
from app.experiments.merging import Merging
from app.experiments.norms import Norms
from app.experiments.published import Published
from app.experiments.schedule import Schedule
from app.experiments.sensitivity import Sensitivity
from app.experiments.sweep import Sweep
from app.experiments.theorem import Theorem
from app.experiments.training import Training
from app.experiments.wirings import Wirings

_IN_ORDER: tuple[type[Experiment], ...] = (
    Schedule,
    Block,
    Sensitivity,
    Gradients,
    Theorem,
    Training,
    RecordedGrid,
    Sweep,
    Wirings,
    Norms,
    Jacobian,
    Published,
    Attenuation,
    Depth,
    Merging,
)

EXPERIMENTS: dict[str, type[Experiment]] = {each.name: each for each in _IN_ORDER}
