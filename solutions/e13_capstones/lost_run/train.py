"""Train, be killed, and go on: `python -m lost_run.train`."""

import contextlib
import random
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F

from .checkpoint import latest, load, save, set_streams, streams
from .data import Sampler, brighten, make
from .model import Average, Net, renamed

BATCHES, CHECKPOINT, EVALUATE = 60, 5, 4  # batches in all, and between two checkpoints and two evaluations
ACCUMULATE, WARMUP = 2, 6  # batches for one update, and updates until the learning rate is whole
X, Y = make(200, seed=1)
TEST_X, TEST_Y = make(300, seed=2)


def factor(updates: int) -> float:
    """What the learning rate is multiplied by after so many updates."""
    if updates < WARMUP:
        return (updates + 1) / WARMUP
    return 1 - 0.9 * (updates - WARMUP) / (BATCHES // ACCUMULATE - WARMUP)


def accuracy(model: Net, weights: dict[str, Tensor]) -> float:
    """The share of the test rows that the model would get right with these weights."""
    scores = torch.func.functional_call(model.eval(), weights, TEST_X)  # (rows, classes)
    return (scores.argmax(1) == TEST_Y).float().mean().item()


class Run:
    """All that decides what comes next, as it is after `batches` batches."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        random.seed(seed)
        self.model = Net()
        self.average = Average(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.05)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, factor)
        self.sampler = Sampler(len(X), 24, seed)
        self.batches, self.best = 0, 0.0
        self.best_weights: dict[str, Tensor] = {}

    def train_batch(self) -> float:
        """Take the gradients of one more batch, and make an update if it is due; the loss."""
        rows = next(self.sampler)
        self.model.train()
        loss = F.cross_entropy(self.model(brighten(X[rows])), Y[rows])
        (loss / ACCUMULATE).backward()
        self.batches += 1
        if self.batches % ACCUMULATE == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.schedule.step()
            self.average.update(self.model)
        return loss.item()

    def evaluate(self) -> float:
        """The accuracy of the averaged weights, which are kept if they are the best so far."""
        now = accuracy(self.model, self.average.weights)
        if now > self.best:
            self.best = now
            self.best_weights = {name: value.clone() for name, value in self.average.weights.items()}
        return now

    def state_dict(self) -> dict[str, Any]:
        parameters = self.model.named_parameters()
        return {
            "batches": self.batches,
            "model": self.model.state_dict(),
            "gradients": {name: p.grad for name, p in parameters if p.grad is not None},
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "sampler": self.sampler.state_dict(),
            "best": self.best,
            "best_weights": self.best_weights,
            "streams": streams(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.sampler.load_state_dict(state["sampler"])
        self.batches = state["batches"]
        self.model.load_state_dict(renamed(state["model"]))
        for name, p in self.model.named_parameters():
            p.grad = state.get("gradients", {}).get(name)
        self.average.load_state_dict(renamed(state["average"]))
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.best = state["best"]
        self.best_weights = renamed(state["best_weights"])
        set_streams(state["streams"])


def train(folder: str | Path, until: int = BATCHES) -> tuple[Run, list[tuple[int, float]]]:
    """Train from the newest checkpoint on to `until` batches; the run, and batch numbers with losses."""
    folder, log = Path(folder), []
    folder.mkdir(parents=True, exist_ok=True)
    run, newest = Run(), latest(folder)
    if newest is not None:
        run.load_state_dict(load(newest))
    while run.batches < until:
        loss = run.train_batch()
        log.append((run.batches, loss))
        if run.batches % EVALUATE == 0:
            run.evaluate()
        if run.batches % CHECKPOINT == 0:
            save(run.state_dict(), folder)
    return run, log


def tell(run: Run, log: list[tuple[int, float]]) -> None:
    """Print where a run began and what came out."""
    print(f"  batches {log[0][0]} to {run.batches}, losses {log[0][1]:.4f} to {log[-1][1]:.4f}")
    now, kept = accuracy(run.model, run.average.weights), accuracy(run.model, run.best_weights)
    print(f"  accuracy {now:.4f}, best {run.best:.4f}, that of the weights kept {kept:.4f}")


def half_written(_state: dict[str, Any], path: str | Path) -> None:
    """In place of `torch.save`: the machine goes away while the file is written."""
    Path(path).write_bytes(b"PK half a file")
    raise KeyboardInterrupt


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        print("never disturbed")
        whole, log = train(Path(name, "whole"))
        tell(whole, log)
        print("killed after batches 17 and 38, while a checkpoint is written, and after batch 58")
        parts = [train(Path(name, "parts"), until) for until in (17, 38)]
        with mock.patch.object(torch, "save", half_written), contextlib.suppress(KeyboardInterrupt):
            train(Path(name, "parts"))
        parts += [train(Path(name, "parts"), until) for until in (58, BATCHES)]
        again, log = parts[-1]
        print("  first batches:", *(log[0][0] for _, log in parts))
        tell(again, log)
        pairs = zip(whole.model.parameters(), again.model.parameters(), strict=True)
        print(f"the weights differ by {max((a - b).abs().max().item() for a, b in pairs):.2g} at most")


if __name__ == "__main__":
    main()
