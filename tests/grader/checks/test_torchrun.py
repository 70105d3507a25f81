"""Answers that run on the grader's ranks run under torchrun as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

from grader.checks import distributed
from grader.course.paths import ROOT

SCRIPT = """
import importlib
import sys
from pathlib import Path

import torch
import torch.distributed as dist

def solution(stem):
    return importlib.import_module(f"solutions.e07_distributed.{stem}")

seen = []
with solution("process_group").process_group() as me:
    mean = solution("all_reduce_mean").all_reduce_mean(torch.tensor([me.rank, 4]))
    total = torch.arange(5) + me.rank
    solution("ring_all_reduce").ring_all_reduce(total)
    train_batch = lambda epoch, batch: seen.extend(batch.tolist())
    solution("epoch_reshuffle").run_epochs(torch.arange(4), train_batch, batch_size=2, epochs=1)
    everything = [None] * me.world_size
    dist.all_gather_object(everything, seen)
told = [me.rank, me.local_rank, me.world_size, mean.tolist(), total.tolist(), sorted(sum(everything, []))]
Path(sys.argv[1], f"rank{me.rank}").write_text(repr((told, dist.is_initialized())))
"""


@pytest.mark.slow
@pytest.mark.multi_process
@pytest.mark.skipif(distributed.is_available() is not None, reason=str(distributed.is_available()))
def test_solutions_under_torchrun(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{SCRIPT}")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    run = subprocess.run(
        [*torchrun, str(script), str(tmp_path)], capture_output=True, text=True, timeout=180, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    for rank in range(2):
        told = [rank, rank, 2, [0.5, 4.0], [1, 3, 5, 7, 9], [0, 1, 2, 3]]
        assert (tmp_path / f"rank{rank}").read_text() == repr((told, False))
