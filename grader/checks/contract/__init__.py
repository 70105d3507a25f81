"""What recurs in suites, declared once: see `Contract`."""

from grader.checks.contract.computed import gradients, values
from grader.checks.contract.conduct import device, errors, flat_cost, own_memory, untouched, views, without
from grader.checks.contract.contract import Contract
from grader.checks.contract.given import given, layer
from grader.checks.contract.layers import loads, registered
from grader.checks.contract.steps import hooks, modes, runs
from grader.checks.contract.variants import dtypes, empties, half_precision, strides

__all__ = [
    "Contract",
    "device",
    "dtypes",
    "empties",
    "errors",
    "flat_cost",
    "given",
    "gradients",
    "half_precision",
    "hooks",
    "layer",
    "loads",
    "modes",
    "own_memory",
    "registered",
    "runs",
    "strides",
    "untouched",
    "values",
    "views",
    "without",
]
