"""The references hold what their statements promise, also where no suite asks learners for it."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks.cost.dispatch import DispatchMode
from grader.checks.distributed import run_ranks
from solutions.e03_modules import layers_in_a_list as reference
from solutions.e05_training import fit, running_metrics
from solutions.e07_distributed import no_sync_accumulation
from solutions.e09_debugging import find_divergence
from solutions.e10_deployment import dynamic_int8
from tests.hidden.e02_autograd import test_mini_autograd as mini_autograd
from tests.hidden.e03_modules import test_layers_in_a_list as layers_in_a_list


def test_fit_leaves_the_streams_of_gpus_alone(monkeypatch):
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    rows = torch.randn(8, 2), torch.arange(8) % 2
    fit.fit(rows, rows, classes=2, seed=0)
    assert seeded == []


class NoDoubles(DispatchMode):
    """As on Apple's GPUs: no float64 outside of the CPU."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.dtype == torch.float64:
            assert result.device.type == "cpu", func
        return result


def test_float64_is_made_on_the_cpu(device):
    metrics, layer, x = running_metrics.RunningMetrics(2), nn.Linear(2, 2).to(device), torch.ones(3, 2)
    with NoDoubles():
        metrics.update(x.to(device), torch.tensor([0, 1, 1], device=device))
        assert find_divergence.find_divergence(layer, layer, x.to(device)) is None


def accumulate(rank, world_size, answer):
    model = DistributedDataParallel(nn.Linear(1, 1, bias=False).double())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    pieces = [(torch.ones(1, 1).double(), torch.full((1, 1), 1 / 3, dtype=torch.float64))]
    return answer.accumulated_step(model, lambda y, wanted: wanted[:, 0] + 0 * y[:, 0], optimizer, pieces)


@pytest.mark.multi_process
def test_no_sync_accumulation_keeps_the_digits_of_the_loss():
    assert run_ranks(1, accumulate, answer=no_sync_accumulation) == [1 / 3]


def test_find_divergence_sees_imaginary_parts():
    class Turn(nn.Module):
        def __init__(self, sign):
            super().__init__()
            self.sign = sign

        def forward(self, x):
            return torch.complex(x, self.sign * x)

    found = find_divergence.find_divergence(Turn(1), Turn(-1), torch.tensor([3.0]))
    assert found == find_divergence.Divergence("", 0, 6.0)


def test_dynamic_int8_takes_no_inputs_and_tiny_weights():
    nothing = nn.Linear(1, 3)
    nothing.weight, nothing.in_features = nn.Parameter(torch.zeros(3, 0)), 0
    layer = dynamic_int8.Int8Linear.from_linear(nothing)
    assert torch.equal(layer(torch.zeros(2, 0)), nothing.bias.expand(2, 3))
    tiny = nn.Linear(2, 1, bias=False)
    tiny.weight = nn.Parameter(torch.tensor([[1e-37, -5e-38]]))
    assert dynamic_int8.Int8Linear.from_linear(tiny).weight.tolist() == [[127, -63]]


class Exact(reference.ResidualNet):
    """The same in float64: as right as can be."""

    def forward(self, x):
        y = x.double()
        for layer, scale in zip(self.layers, self.scales, strict=True):
            y = y + scale * (y @ layer.weight.double().T + layer.bias).relu()
        heads = self.heads.items()
        return {name: (y @ head.weight.double().T + head.bias).to(x.dtype) for name, head in heads}


@pytest.mark.parametrize("seed", range(10))
def test_layers_in_a_list_may_be_more_exact_than_the_suite(seed):
    checks = {check.name: check.function for check in layers_in_a_list.contract.checks("contract")}
    checks["test_values"](SimpleNamespace(ResidualNet=Exact), torch.Generator().manual_seed(seed))


def test_mini_autograd_takes_an_int_for_a_number():
    assert mini_autograd.numbers(0, 1.5).tolist() == [0.0, 1.5]
