"""What must work in a confined child of an engine that has torch imported."""

# Jobs are written the way an answer would be.
# ruff: noqa: PTH109, PTH123

import subprocess
import sys
from collections.abc import Iterator

import pytest

from grader import sandbox
from tests.grader.support.warm_worker import WarmWorker


@pytest.fixture(scope="module")
def warm(confines: None) -> Iterator[WarmWorker]:
    found = WarmWorker(imports=["torch", "torch._dynamo", "torch.distributed", "torch.utils.data"])
    yield found
    found.close()


def train():
    import torch

    generator = torch.Generator().manual_seed(3)
    x = torch.randn(64, 8, generator=generator)
    layer = torch.nn.Linear(8, 4)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        loss = (layer(x) - x[:, :4]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[-1] < losses[0], bool(torch.linalg.svd(x).S.gt(0).all())


def test_training(warm):
    assert warm.run(train).value == [True, True]


def load(start_method):
    import os
    import sys

    import torch

    with open("squares.py", "w") as file:
        file.write(
            "import os, torch\n"
            "class Squares(torch.utils.data.Dataset):\n"
            "    def __len__(self): return 6\n"
            "    def __getitem__(self, i): return torch.tensor([i * i, os.getpid()])\n"
        )
    sys.path.append(os.getcwd())
    import squares

    data = torch.utils.data.DataLoader(
        squares.Squares(), batch_size=3, num_workers=2, multiprocessing_context=start_method
    )
    rows = torch.cat(list(data)).T.tolist()
    return rows[0], len({os.getpid(), *rows[1]})


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_data_loader_with_two_workers(warm, start_method):
    result = warm.run(load, start_method)
    assert result.error == ""
    assert result.value == [[0, 1, 4, 9, 16, 25], 3]


def all_reduce():
    import multiprocessing
    import os

    import torch
    import torch.distributed as dist

    def rank(number, queue):
        dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=number, world_size=2)
        total = torch.tensor([float(number + 1)])
        dist.all_reduce(total)
        dist.destroy_process_group()
        queue.put(total.item())

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    ranks = [context.Process(target=rank, args=(number, queue)) for number in range(2)]
    for process in ranks:
        process.start()
    totals = [queue.get(timeout=60) for _ in ranks]
    for process in ranks:
        process.join()
    return totals


def test_two_gloo_ranks_over_a_file_store(warm):
    result = warm.run(all_reduce)
    assert result.error == ""
    assert result.value == [3.0, 3.0]


def compile_and_profile():
    import torch

    doubled = torch.compile(lambda x: x * 2 + 1, backend="eager", fullgraph=True)(torch.ones(3))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        torch.ones(4) @ torch.ones(4)
    profile.export_chrome_trace("/tmp/trace.json")
    return doubled.tolist(), any(event.key == "aten::dot" for event in profile.key_averages())


def test_compile_and_the_profiler(warm):
    assert warm.run(compile_and_profile).value == [[3.0, 3.0, 3.0], True]


def files_and_subprocess():
    import subprocess
    import sys
    import tempfile
    import threading

    import torch

    with tempfile.NamedTemporaryFile() as file:
        torch.save(torch.arange(3), file.name)
        loaded = torch.load(file.name).tolist()
    thread = threading.Thread(target=loaded.append, args=(3,))
    thread.start()
    thread.join()
    code = "import os; print(os.getuid(), os.getcwd())"
    return loaded, subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout


def test_files_threads_and_subprocesses(warm):
    assert warm.run(files_and_subprocess).value == [[0, 1, 2, 3], "1000 /tmp\n"]


def allocate():
    import torch

    return torch.zeros(200 << 20, dtype=torch.uint8).numel()


def test_tensors_count_against_the_memory_limit(warm):
    assert warm.run(allocate).value == 200 << 20
    assert "memory" in warm.run(allocate, memory_bytes=100 << 20).error


GUARDED = """
import os, select, signal, sys
from grader import sandbox
alive, held = os.pipe()
pid = os.fork()
if pid == 0:
    sandbox.Confinement()
    os.write(held, b"up")
    signal.pause()
os.close(held)
assert os.read(alive, 2) == b"up"
os.kill(pid, signal.SIGKILL)
assert select.select([alive], [], [], 20)[0] and os.read(alive, 1) == b"", "the worker lives on"
"""


def test_a_worker_dies_with_the_process_that_its_engine_knows(confines):
    line = sandbox.command([sys.executable, "-c", GUARDED], readable=[])
    assert subprocess.run(line, timeout=60).returncode == 0
