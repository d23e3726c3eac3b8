"""The experiments, by the name that pages and links call them."""

from app.experiments.experiment import Experiment
from app.experiments.sensitivity import Sensitivity

EXPERIMENTS: dict[str, type[Experiment]] = {Sensitivity.name: Sensitivity}
