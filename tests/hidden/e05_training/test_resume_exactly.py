"""What grades resume_exactly: runs that go on, the sampler; other streams, atomic writes, bad files."""

import contextlib
import copy
import pickle
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_raises, expect_that, global_rng_untouched

X = torch.randn(11, 4, generator=torch.Generator().manual_seed(5))


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "last.run"


class Run:
    """All that a training run consists of, but the rows."""

    def __init__(self, start):
        torch.manual_seed(start)
        self.model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.4), nn.Linear(4, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)
        self.things = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule}

    def steps(self, batches):
        """The weights after a step on each batch."""
        for rows in batches:
            x = torch.cat([X[rows], X[:2]])
            self.optimizer.zero_grad()
            F.mse_loss(self.model(x)[:, 0], x.sum(1)).backward()
            self.optimizer.step()
            self.schedule.step()
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def steps_of(self, sampler, number):
        """The rows and the weights."""
        rows = []
        weights = self.steps(rows.append(r) or r for r in (next(sampler) for _ in range(number)))
        return rows, weights


def without(forgotten, first, others):
    """The weights of a run that went on without one of the things, or without the stream."""
    run = Run(0)
    run.steps(first)
    saved, again = torch.get_rng_state(), Run(1)
    for name, thing in again.things.items():
        if name != forgotten:
            thing.load_state_dict(copy.deepcopy(run.things[name].state_dict()))
    if forgotten != "stream":
        torch.set_rng_state(saved)
    return again.steps(others)


MISTAKES = {
    "dropout draws other numbers: torch's random stream is not given back": "stream",
    "the optimizer has forgotten its momentum": "optimizer",
    "the schedule begins anew": "schedule",
    "the model begins anew": "model",
}


@pytest.mark.parametrize("done", [2, 5, 7])
def test_run_goes_on(answer, path, done):
    """A run that is ended and goes on has the rows and weights of one that never was, to the last bit."""
    rows, wanted = Run(0).steps_of(answer.EpochSampler(11, 3, seed=1), 9)
    run, sampler = Run(0), answer.EpochSampler(11, 3, seed=1)
    run.steps_of(sampler, done)
    answer.save_checkpoint(path, {**run.things, "sampler": sampler}, done)

    run, sampler = Run(1), answer.EpochSampler(11, 3, seed=2)
    step = answer.load_checkpoint(path, {**run.things, "sampler": sampler})
    told = f"after a checkpoint at step {done}"
    expect_equal(step, done, f"load_checkpoint(path, things) {told}")
    mine, yours = run.steps_of(sampler, 9 - done)
    expect_that(
        all(map(torch.equal, mine, rows[done:])), f"other rows come {told}", yours=mine, wanted=rows[done:]
    )
    for name, right in wanted.items():
        suspects = {
            said: lambda what=what, name=name: without(what, rows[:done], rows[done:])[name]
            for said, what in MISTAKES.items()
        }
        expect_equal(yours[name], right, f"{name} at the end, {told}", suspects=suspects)


def test_any_things(answer, path):
    """Things may have any names and come in another order; the newest checkpoint replaces the old one."""
    for step in (0, 40):
        things = {"generator": nn.Linear(3, 2), "critic": nn.Linear(3, 2)}
        answer.save_checkpoint(str(path), things, step)
        others = {name: nn.Linear(3, 2) for name in ("critic", "generator")}
        expect_equal(answer.load_checkpoint(str(path), others), step, "load_checkpoint(path, things)")
        for name, thing in things.items():
            call = f"the weight of {name!r} after load_checkpoint(path, things)"
            suspects = {
                "the states are given out in order, not by name": lambda name=name, things=things: next(
                    thing.weight.detach() for other, thing in things.items() if other != name
                )
            }
            expect_equal(others[name].weight.detach(), thing.weight.detach(), call, suspects=suspects)


@pytest.mark.parametrize(("size", "batch"), [(5, 2), (6, 3), (9, 4)])
def test_sampler_epochs(answer, size, batch):
    """Each epoch holds every row once, in a new order; only its last batch may be short."""
    sampler, orders = answer.EpochSampler(size, batch, 3), []
    sizes = [min(batch, size - start) for start in range(0, size, batch)]
    for _ in range(6):
        rows = [next(sampler) for _ in sizes]
        expect_equal([len(r) for r in rows], sizes, f"the sizes of an epoch of {size} rows by {batch}")
        orders.append(torch.cat(rows))
        expect_equal(orders[-1].sort()[0], torch.arange(size), "the rows of an epoch, sorted,")
    several, likely = len({tuple(o.tolist()) for o in orders}) > 2, "shuffle anew for each epoch"
    expect_that(several, "all epochs have the same order", likely=likely)


@pytest.mark.parametrize("taken", [0, 1, 3, 5, 7])
def test_sampler_goes_on(answer, taken):
    """A sampler that loads the state of another goes on as that one does, within an epoch, too."""
    sampler, other = answer.EpochSampler(9, 2, seed=4), answer.EpochSampler(9, 2, seed=77)
    rows = [next(sampler) for _ in range(taken)]
    state, stream = copy.deepcopy(sampler.state_dict()), torch.get_rng_state()
    wanted = [next(sampler) for _ in range(12)]
    next(other)
    other.load_state_dict(state)
    torch.set_rng_state(stream)  # which a checkpoint holds, too
    yours, likely = [next(other) for _ in range(12)], ""
    if taken % 5 and yours[0].equal(rows[taken // 5 * 5]):
        likely = "the epoch begins again: how far it got is a part of the state"
    elif yours[0].equal(wanted[0]):
        likely = "the next epoch has another order: the state of the stream that shuffles belongs to it"
    told = f"other batches come from a sampler that was loaded after {taken} batches of 2 of 9 rows"
    expect_that(all(map(torch.equal, yours, wanted)), told, yours=yours[:6], wanted=wanted[:6], likely=likely)


def draws():
    """The next numbers of each stream, both Gaussians of a pair included."""
    return {
        "random.gauss()": [random.gauss(0, 1) for _ in range(2)],
        "np.random.normal()": [float(np.random.normal()) for _ in range(2)],
        "torch.rand(4)": torch.rand(4),
    }


@pytest.mark.fine
def test_other_streams(answer, path):
    """Python's and NumPy's global streams go on where they were as well."""
    random.gauss(0, 1), np.random.normal()  # both keep the second of a pair for the next call
    answer.save_checkpoint(path, {}, 0)
    drawn = draws()
    random.seed(3), np.random.seed(4)
    answer.load_checkpoint(path, {})
    for name, yours in draws().items():
        expect_equal(yours, drawn[name], f"{name} after load_checkpoint")


@pytest.mark.fine
def test_cuda_streams(answer, path, monkeypatch):
    """Where there are CUDA devices (here two are simulated), their random streams go on where they were."""
    streams = tuple(torch.Generator().manual_seed(seed) for seed in (7, 8))
    stand_ins = {
        "device_count": lambda: 2,
        "current_device": lambda: 0,
        "is_initialized": lambda: True,
        "is_available": lambda: True,
        "_lazy_init": lambda: None,
        "_lazy_call": lambda job, **_: job(),
    }
    for name, stand_in in stand_ins.items():
        for module in (torch.cuda, torch.cuda.random):
            monkeypatch.setattr(module, name, stand_in, raising=False)
    monkeypatch.setattr(torch.cuda, "default_generators", streams)
    answer.save_checkpoint(path, {}, 0)
    drawn = [torch.rand(3, generator=stream) for stream in streams]
    answer.load_checkpoint(path, {})
    now = [torch.rand(3, generator=stream) for stream in streams]
    expect_equal(now, drawn, "the next draws on two CUDA devices after load_checkpoint")


@pytest.mark.fine
def test_sampler_stream(answer):
    """The sampler draws from a stream of its own: its seed decides, and global streams are left alone."""
    with global_rng_untouched("EpochSampler"):
        samplers = [answer.EpochSampler(20, 20, seed) for seed in (3, 3, 4)]
        first, second, other = (next(s) for s in samplers)
        expect_equal(second, first, "the first epoch of a sampler with the same seed")
        expect_that(not torch.equal(other, first), "samplers with the seeds 3 and 4 have the same order")


class Bomb:
    """Its state raises while it is written."""

    def state_dict(self):
        return {"first": torch.ones(1000), "bomb": self}

    def __reduce__(self):
        raise ZeroDivisionError


@pytest.mark.fine
def test_atomic(answer, path):
    """When saving fails half-way, the old checkpoint is whole, and no other file is left."""
    model = nn.Linear(3, 2)
    answer.save_checkpoint(path, {"model": model}, 5)
    before, bad = path.read_bytes(), {"model": model, "bomb": Bomb()}
    call = "save_checkpoint(path, things, step) of something that cannot be written"
    expect_raises(ZeroDivisionError, lambda: answer.save_checkpoint(path, bad, 6), call)
    whole = path.exists() and path.read_bytes() == before
    expect_that(whole, f"the old checkpoint is damaged after {call}: write to another file first")


@pytest.mark.fine
def test_no_other_files(answer, path):
    """Whether saving succeeds or fails, there is no other file afterwards."""
    for things, told in [({}, "save_checkpoint"), ({"bomb": Bomb()}, "a save_checkpoint that failed")]:
        with contextlib.suppress(ZeroDivisionError):
            answer.save_checkpoint(path, things, 5)
        left = [f.name for f in path.parent.iterdir()]
        expect_equal(left, ["last.run"], f"the files in the folder after {told}")


@pytest.mark.fine
def test_strangers_files(answer, path):
    """A file that would run code raises UnpicklingError: no code runs, and nothing changes."""
    ran, model = path.with_name("ran"), nn.Linear(3, 2)

    class Hostile:
        def __reduce__(self):
            return (Path.touch, (ran,))

    answer.save_checkpoint(path, {"model": model}, 5)
    content = torch.load(path, weights_only=False)
    torch.save({**content, "more": Hostile()} if isinstance(content, dict) else Hostile(), path)
    call = "load_checkpoint of a file that would run code"
    expect_raises(pickle.UnpicklingError, lambda: answer.load_checkpoint(path, {"model": model}), call)
    expect_that(not ran.exists(), "load_checkpoint runs code that it finds in the file")


@pytest.mark.fine
def test_other_names(answer, path):
    """Names that are not those in the checkpoint raise KeyError, and nothing changes."""
    answer.save_checkpoint(path, {"first": nn.Linear(3, 2), "second": nn.Linear(3, 2)}, 5)
    for names in [("first",), ("first", "second", "third"), ("first", "other")]:
        things = {name: nn.Linear(3, 2) for name in names}
        wanted, call = things["first"].weight.detach().clone(), f"load_checkpoint with things named {names}"
        expect_raises(KeyError, lambda t=things: answer.load_checkpoint(path, t), call)
        expect_equal(things["first"].weight.detach(), wanted, f"the weight of 'first' after {call}")


def oracle(answer, gen):
    @contextlib.contextmanager
    def resumed(gen):
        """A run that has loaded what another one saved, the step that came back, and the batches."""
        start, size = (int(torch.randint(4, 1000, (), generator=gen)) for _ in range(2))
        batches = [torch.randint(11, (3,), generator=gen) for _ in range(6)]
        with tempfile.TemporaryDirectory() as folder:
            path, sampler = Path(folder) / "last.run", answer.EpochSampler(size, 3, start)
            first, run = next(sampler), Run(start)
            run.steps(batches[:3])
            answer.save_checkpoint(path, {**run.things, "sampler": sampler}, start)
            again, sampler = Run(start + 1), answer.EpochSampler(size, 3, start + 1)
            step = answer.load_checkpoint(path, {**again.things, "sampler": sampler})
            yield again, sampler, step, first, size, batches[3:]

    def steps(gen):
        """The steps that come back from three checkpoints."""
        found = []
        for _ in range(3):
            with resumed(gen) as (_, _, step, *_):
                found.append(step)
        return found

    def next_draw(gen):
        with resumed(gen):
            return torch.randn(3)

    def weights(gen):
        with resumed(gen) as (run, *_, batches):
            torch.manual_seed(5)
            return run.steps(batches)

    def epoch(gen):
        """The sum over an epoch's rows, of which the first batch came before the checkpoint."""
        with resumed(gen) as (_, sampler, _, first, size, _):
            x = torch.randn(size, generator=gen, dtype=torch.float64)
            rest = [x[next(sampler)].sum() for _ in range((size - 1) // 3)]
            return [sum(rest) + x[first].sum(), size]

    return {
        "the step": steps,
        "what is drawn next": next_draw,
        "the weights after three more steps": weights,
        "the sum over the rows of an epoch, the first batch before the checkpoint": epoch,
    }
