"""What grades sharded_checkpoint: training that goes on with another number of ranks; what travels."""

import tempfile
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from grader.checks import expect_that
from grader.checks.contract import Contract, given, values
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process

SIZES = {"0.weight": (5, 3), "0.bias": (5,), "2.weight": (2, 5), "2.bias": (2,)}


def net(weights):
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).to(weights["0.bias"].dtype)
    model.load_state_dict(weights)
    return model


def step(model, optimizer, x):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


def whole(model):
    full = {name: getattr(p, "full_tensor", lambda p=p: p)() for name, p in model.named_parameters()}
    return {name: p.detach().clone() for name, p in full.items()}


def worker(rank, world_size, answer, weights, x, lr, before, after):
    """Load where there is something to load, take a step, and save where that is wanted."""
    model = net(weights)
    fully_shard(model, mesh=init_device_mesh("cpu", (world_size,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    steps = answer.load(model, optimizer, before) if before else 0
    loaded = whole(model)
    step(model, optimizer, x)
    if after:
        answer.save(model, optimizer, after, 10 + world_size)
    return {"after load(…)": loaded, "after load(…) and another step": whole(model), "steps": steps}


def use(answer, weights, x, savers, loaders, lr=0.1):
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "checkpoint"
        run_ranks(savers, worker, weights, x, 0.1, None, folder, answer=answer)
        zeros = {name: torch.zeros_like(t) for name, t in weights.items()}
        found = run_ranks(loaders, worker, zeros, x, lr, folder, None, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def trained(weights, x, savers, loaders, lr=0.1, momentum=0.9, second=0.1):
    """Two steps of one process that saves nothing."""
    model = net(weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    step(model, optimizer, x)
    loaded = whole(model)
    optimizer.param_groups[0].update(momentum=momentum, lr=second)
    step(model, optimizer, x)
    found = {"after load(…)": loaded, "after load(…) and another step": whole(model), "steps": 10 + savers}
    return {f"rank {rank}": found for rank in range(loaders)}


def call(gen, savers, loaders, **options):
    weights = {name: torch.randn(size, generator=gen) for name, size in SIZES.items()}
    return given(weights, torch.randn(6, 3, generator=gen), savers, loaders, **options)


contract = Contract(
    "load(model, optimizer, savers, loaders)",
    reference=trained,
    use=use,
    inputs=lambda gen: {
        "three ranks saved, two load": call(gen, 3, 2),
        "one rank saved, two load": call(gen, 1, 2),
        "two ranks saved, one loads": call(gen, 2, 1),
    },
    ulps=300,
    suspects={"the optimizer's state is not loaded": partial(trained, momentum=0.0)},
    fine=[
        values(
            inputs=lambda gen: {"a new optimizer with lr=0.02": call(gen, 2, 2, lr=0.02)},
            suspects={"the learning rate is not loaded": partial(trained, second=0.02)},
            name="learning_rate",
            title="The learning rate is the one that was saved.",
        )
    ],
)


def count(rank, world_size, answer, folder):
    """The bytes that a rank hands to collectives while it saves and loads 640 kB."""
    model = nn.Linear(400, 400, bias=False)
    fully_shard(model, mesh=init_device_mesh("cpu", (world_size,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with count_collectives() as seen:
        answer.save(model, optimizer, folder, 3)
        answer.load(model, optimizer, folder)
    return sum(call.bytes for call in seen.calls)


@pytest.mark.fine
def test_travel(answer, tmp_path):
    """Parameters do not travel between ranks when they are saved or loaded."""
    for rank, size in enumerate(run_ranks(2, count, tmp_path / "checkpoint", answer=answer)):
        told = f"parameters of 640000 bytes travel between ranks in save(…) and load(…), on rank {rank}"
        expect_that(size < 200_000, told, yours=f"{size} bytes are handed to collectives")
