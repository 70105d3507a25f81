"""What grades resume_exactly: runs that are killed and go on, streams, atomic writes, strangers' files."""

import contextlib
import copy
import os
import pickle
import random
import signal
import tempfile
import traceback
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_equal, expect_raises, expect_that, global_rng_untouched

STEPS, EVERY = 17, 3


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "last.run"


def killed(job):
    """Run `job` in a process of its own, and return the signal that ended it."""
    with tempfile.TemporaryFile("w+") as said:
        return _killed(job, said)


def _killed(job, said):
    pid = os.fork()
    if pid == 0:
        try:
            job()
            os._exit(0)
        except BaseException:
            said.write(traceback.format_exc(limit=-2))
            said.flush()
            os._exit(1)
    try:
        _, status = os.waitpid(pid, 0)
    except BaseException:  # the answer's time is over
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    said.seek(0)
    text = said.read()
    if text.rstrip().endswith("NotImplementedError"):
        raise NotImplementedError
    if text:
        raise CheckFailure(f"your code raised an error in a process that trains\n{text}")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def kill_me():
    os.kill(os.getpid(), signal.SIGKILL)


class Run:
    """All that a training run consists of. Gradients are written out: autograd does not survive a fork."""

    def __init__(self, answer, start):
        random.seed(start)
        np.random.seed(start)
        torch.manual_seed(start)
        draws = torch.Generator().manual_seed(5)
        self.x = torch.randn(11, 4, generator=draws)
        self.y = self.x.sum(1)
        self.model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.4), nn.Linear(4, 1))
        self.optimizer = torch.optim.AdamW(self.model[2].parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=4)
        self.sampler = answer.EpochSampler(11, 3, seed=start + 1)
        names = ("model", "optimizer", "schedule", "scaler", "sampler")
        self.things = {name: getattr(self, name) for name in names}

    @torch.no_grad()
    def step(self):
        rows = next(self.sampler)
        noise = random.gauss(0, 0.1) + float(np.random.normal(0, 0.1))
        norm, dropout, linear = self.model
        hidden = dropout(norm(torch.cat([self.x[rows], self.x[:2]])) + noise)  # (rows + 2, 4)
        error = self.scaler.scale(linear(hidden)[:, 0] - torch.cat([self.y[rows], self.y[:2]]))
        linear.weight.grad, linear.bias.grad = error[None] @ hidden / len(error), error.mean()[None]
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.schedule.step()

    def end(self):
        """What must be the same to the last bit."""
        return {
            **{name: value.clone() for name, value in self.model.state_dict().items()},
            "momentum": self.optimizer.state_dict()["state"][0]["exp_avg"].clone(),
            "learning rate": self.optimizer.param_groups[0]["lr"],
            "scale": self.scaler.get_scale(),
            "next batch": next(self.sampler),
            "random": random.random(),
            "NumPy's random": [float(np.random.normal()) for _ in range(2)],
            "torch's random": torch.randn(3),
        }


def train(answer, path, start, die_at=None):
    """Train to the end, from the last checkpoint if there is one; at `die_at`, die."""
    run = Run(answer, start)
    step = answer.load_checkpoint(path, run.things) if path.exists() else 0
    while step < STEPS:
        if step == die_at:
            kill_me()
        run.step()
        step += 1
        if step % EVERY == 0:
            answer.save_checkpoint(path, run.things, step)
    return run.end()


def expect_same(yours, wanted, when):
    for name, right in wanted.items():
        expect_equal(yours[name], right, f"{name} {when}")


def model_with(gen, number=3):
    model = nn.Linear(number, 2)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


def test_random_streams(answer, path, gen):
    """Python's, NumPy's and torch's global streams go on where they were, and saving moves none of them."""
    random.gauss(0, 1)  # both keep the second of a pair of Gaussians for the next call
    np.random.normal()
    torch.rand(5)
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    answer.save_checkpoint(path, {}, 0)
    expect_equal(random.getstate(), states[0], "the state of `random` after save_checkpoint")
    same = all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), states[1], strict=True))
    expect_that(same, "save_checkpoint moves NumPy's random stream")
    expect_equal(torch.get_rng_state(), states[2], "the state of torch's stream after save_checkpoint")
    drawn = random.gauss(0, 1), np.random.normal(3), float(np.random.rand()), torch.rand(4)
    for again in ("the first time", "again"):
        random.seed(3)
        np.random.seed(4)
        torch.manual_seed(5)
        answer.load_checkpoint(path, {})
        now = random.gauss(0, 1), np.random.normal(3), float(np.random.rand()), torch.rand(4)
        names = ("random.gauss()", "np.random.normal()", "np.random.rand()", "torch.rand()")
        for name, yours, right in zip(names, now, drawn, strict=True):
            expect_equal(yours, right, f"{name} after loading {again}")


def two_cuda_devices(monkeypatch):
    """Have torch.cuda find two devices, with or without a GPU, and return the generators of their streams."""
    streams = tuple(torch.Generator().manual_seed(seed) for seed in (7, 8))
    stand_ins = {
        "device_count": lambda: 2,
        "current_device": lambda: 0,
        "is_initialized": lambda: True,
        "_lazy_init": lambda: None,
        "_lazy_call": lambda job, **_: job(),
    }
    for name, stand_in in stand_ins.items():
        for module in (torch.cuda, torch.cuda.random):
            monkeypatch.setattr(module, name, stand_in, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "default_generators", streams)
    return streams


def test_streams_of_cuda_devices(answer, path, monkeypatch):
    """Where there are CUDA devices (here two are simulated), their random streams go on where they were."""
    streams = two_cuda_devices(monkeypatch)
    torch.rand(3, generator=streams[1])
    answer.save_checkpoint(path, {}, 0)
    drawn = [torch.rand(3, generator=stream) for stream in streams]
    for again in ("the first time", "again"):
        answer.load_checkpoint(path, {})
        now = [torch.rand(3, generator=stream) for stream in streams]
        expect_equal(now, drawn, f"the next draws on two CUDA devices after loading {again}")


class Drawing:
    """Loads its state, and draws: some things initialise themselves first."""

    def state_dict(self):
        return {"number": 1}

    def load_state_dict(self, state):
        random.random()
        np.random.rand()
        torch.rand(1)


def test_things_that_draw(answer, path):
    """The streams are right even where loading one of the things draws from them."""
    answer.save_checkpoint(str(path), {"drawing": Drawing()}, 3)
    drawn = random.random(), float(np.random.rand()), torch.rand(2)
    step = answer.load_checkpoint(str(path), {"drawing": Drawing()})
    expect_equal(step, 3, "load_checkpoint(path, things)")
    now = random.random(), float(np.random.rand()), torch.rand(2)
    expect_equal(now, drawn, "the next draws after loading things that draw")


def test_steps(answer, path, gen, monkeypatch):
    """Every number of steps comes back as it was saved, and the newest checkpoint replaces the old one."""
    model, folder = model_with(gen), path.parent
    monkeypatch.chdir(folder)
    Path("other.tmp").write_text("somebody else's")
    for step, given in ((0, path), (1, path.name), (2**40, Path(path.name))):
        with torch.no_grad():
            model.weight += 1
        wanted = copy.deepcopy(model.state_dict())
        answer.save_checkpoint(given, {"net": model}, step)
        other = model_with(gen)
        expect_equal(answer.load_checkpoint(given, {"net": other}), step, "load_checkpoint(path, things)")
        expect_equal(
            dict(other.state_dict()), dict(wanted), "the weights after load_checkpoint(path, things)"
        )
        files = sorted(f.name for f in folder.iterdir())
        expect_equal(files, ["last.run", "other.tmp"], "the files in the folder")


@pytest.mark.parametrize(("size", "batch"), [(5, 2), (6, 3), (1, 1), (4, 9), (7, 1)])
def test_sampler_epochs(answer, size, batch):
    """Each epoch holds every row once, in a new order; only its last batch may be short."""
    torch.manual_seed(size)
    twin = answer.EpochSampler(size, batch, 3)
    torch.manual_seed(batch)  # no affair of the sampler's
    with global_rng_untouched("EpochSampler"):
        sampler = answer.EpochSampler(size, batch, 3)
        sizes = [min(batch, size - start) for start in range(0, size, batch)]
        orders = []
        for _ in range(6):
            rows = [next(sampler) for _ in sizes]
            expect_equal([len(r) for r in rows], sizes, f"the sizes of an epoch of {size} rows by {batch}")
            orders.append(torch.cat(rows))
            expect_equal(orders[-1].sort()[0], torch.arange(size), "the rows of an epoch, sorted,")
            expect_equal([next(twin) for _ in sizes], rows, "the batches of a sampler with the same seed")
    if size > 3:
        expect_that(len({tuple(o.tolist()) for o in orders}) > 3, "all epochs have the same order")
        others = {tuple(next(answer.EpochSampler(size, size, seed)).tolist()) for seed in range(8)}
        expect_that(len(others) > 3, "other seeds give the same order")


@pytest.mark.parametrize("taken", [0, 1, 4, 5, 7, 10])
def test_sampler_goes_on(answer, taken):
    """A sampler goes on where the saved one was: before, in the middle and at the end of an epoch."""
    sampler = answer.EpochSampler(9, 2, seed=4)  # 5 batches in an epoch
    for _ in range(taken):
        next(sampler)
    state = sampler.state_dict()
    kept = copy.deepcopy(state)
    wanted = [next(sampler) for _ in range(12)]
    for used in (0, 3):
        other = answer.EpochSampler(9, 2, seed=77)
        for _ in range(used):
            next(other)
        with global_rng_untouched("sampler.load_state_dict(state)"):
            other.load_state_dict(state)
        yours = [next(other) for _ in range(12)]
        expect_equal(yours, wanted, f"the batches of a sampler that was loaded after {taken} batches")
    busy, stranger = answer.EpochSampler(9, 2, seed=4), answer.EpochSampler(9, 2, seed=8)
    for _ in range(taken):
        next(busy)
    next(stranger)
    own = busy.state_dict()
    busy.load_state_dict(stranger.state_dict())
    busy.load_state_dict(own)
    yours = [next(busy) for _ in range(12)]
    call = f"the batches of a sampler that loads another's state, and then its own after {taken} batches"
    expect_equal(yours, wanted, call)
    relay, third = answer.EpochSampler(9, 2, seed=6), answer.EpochSampler(9, 2, seed=5)
    relay.load_state_dict(kept)
    mine = [next(relay)]
    third.load_state_dict(relay.state_dict())  # a second crash in the same epoch
    mine += [next(third) for _ in range(11)]
    call = f"the batches of a sampler loaded after {taken} batches, and again after one more"
    expect_equal(mine, wanted, call)


@pytest.mark.parametrize("deaths", [(4,), (5, 11), (9, 10)], ids=str)
def test_killed_and_started_again(answer, path, deaths):
    """A run that is killed and goes on ends with the weights of one that never was, to the last bit."""
    wanted = train(answer, path.with_name("undisturbed.pt"), start=0)
    for number, at in enumerate(deaths, start=1):
        # each process starts from other seeds and weights, as it would in a new shell
        ended = killed(lambda at=at, n=number: train(answer, path, 0 if n == 1 else 100 + n, die_at=at))
        expect_equal(ended, int(signal.SIGKILL), "the signal that ends the training process")
    result = path.with_name("end")
    expect_equal(
        killed(lambda: torch.save(train(answer, path, 200), result)), 0, "the end of the last process"
    )
    expect_same(torch.load(result, weights_only=False), wanted, f"after deaths at steps {deaths}")


class Bomb:
    """Its state ends the process, or raises, while it is written."""

    def __init__(self, what):
        self.what = what

    def state_dict(self):
        return {"first": torch.ones(1000), "bomb": self}

    def load_state_dict(self, state):
        raise AssertionError("a checkpoint that was never finished is loaded")

    def __reduce__(self):
        self.what()
        return (int, ())


class Stateless:
    """Has no state to tell."""

    def state_dict(self):
        return 1 / 0


def interrupted():
    raise KeyboardInterrupt


@pytest.mark.parametrize("how", ["killed", "error", "interrupt"])
def test_atomic(answer, path, gen, how):
    """When saving is killed or raises half way, the old checkpoint is whole, and the next save succeeds."""
    model = model_with(gen)
    wanted = copy.deepcopy(model.state_dict())
    if how == "error":  # where there is no old one, there is still none
        first = {"bomb": Bomb(lambda: 1 / 0)}
        expect_raises(
            ZeroDivisionError, lambda: answer.save_checkpoint(path, first, 1), "the first save_checkpoint"
        )
        left = [f.name for f in path.parent.iterdir()]
        expect_equal(left, [], "the files in the folder after the first save has failed")
        stuck = {"model": model, "stuck": Stateless()}
        call = "save_checkpoint of something whose state_dict() raises"
        expect_raises(ZeroDivisionError, lambda: answer.save_checkpoint(path, stuck, 1), call)
        left = [f.name for f in path.parent.iterdir()]
        expect_equal(left, [], f"the files in the folder after {call}")
        path.mkdir()  # which no file can replace
        call = "save_checkpoint to a path where a folder is"
        expect_raises(OSError, lambda: answer.save_checkpoint(path, {"model": model}, 2), call)
        left = [f.name for f in path.parent.rglob("*")]
        expect_equal(left, ["last.run"], f"what lies there after {call}")
        path.rmdir()
    answer.save_checkpoint(path, {"model": model}, 5)
    with torch.no_grad():
        model.weight.zero_()
    if how == "killed":
        bad = {"model": model, "bomb": Bomb(kill_me)}
        ended = killed(lambda: answer.save_checkpoint(path, bad, 6))
        expect_equal(ended, int(signal.SIGKILL), "the signal that ends the saving process")
    else:
        bad = {"model": model, "bomb": Bomb(interrupted if how == "interrupt" else lambda: 1 / 0)}
        error = KeyboardInterrupt if how == "interrupt" else ZeroDivisionError
        free = free_descriptors()
        expect_raises(error, lambda: answer.save_checkpoint(path, bad, 6), "save_checkpoint")
        expect_that(free_descriptors() == free, "save_checkpoint leaves a file open where it raises")
        left = [f.name for f in path.parent.iterdir()]
        expect_equal(left, ["last.run"], "the files in the folder after saving has failed")
    call = f"load_checkpoint after a save that was ended by {how}"
    expect_equal(answer.load_checkpoint(path, {"model": model}), 5, call)
    expect_equal(dict(model.state_dict()), dict(wanted), f"the weights from {call}")
    answer.save_checkpoint(path, {"model": model}, 8)
    expect_equal(answer.load_checkpoint(path, {"model": model}), 8, "the next save, loaded,")


def free_descriptors():
    """The numbers that the next files get to be opened; one that stays open takes one away."""
    numbers = [os.open(os.devnull, os.O_RDONLY) for _ in range(6)]
    for number in numbers:
        os.close(number)
    return numbers


def test_replaced_in_one_go(answer, path, gen, monkeypatch):
    """The new file is on the disk before it takes the old one's name; one that was left does not hinder."""
    model, events, sizes, others = model_with(gen), [], [], []
    answer.save_checkpoint(path, {"model": model}, 1)
    before = path.read_bytes()
    real = os.fsync, os.replace, os.rename

    def fsync(number):
        events.append("fsync")
        sizes.append(os.fstat(number if isinstance(number, int) else number.fileno()).st_size)
        return real[0](number)

    def moving(which):
        def move(source, target, **more):
            if Path(target).read_bytes() != before:
                events.append("the old file is changed")
            if path.parent.resolve() not in Path(source).resolve().parents:
                events.append("the new file is in another folder")
            if sizes and sizes[-1] != Path(source).stat().st_size:
                events.append("half of it is written")
            events.append("replace")
            others.append(Path(source).resolve())
            return real[which](source, target, **more)

        return move

    for was, now in zip(real, (fsync, moving(1), moving(2)), strict=True):
        monkeypatch.setattr(os, was.__name__, now)
        for name in [name for name, value in vars(answer).items() if value is was]:  # from os import …
            monkeypatch.setattr(answer, name, now)
    answer.save_checkpoint(str(path), {"model": model}, 2)
    monkeypatch.chdir(path.parent)
    path.write_bytes(before)
    answer.save_checkpoint(path.name, {"model": model}, 2)  # as in the statement
    for other in others[:1]:  # its name is one that a checkpoint may have
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(before)
        answer.save_checkpoint(other, {"model": model}, 2)
    monkeypatch.undo()
    seen = [e for i, e in enumerate(events) if e != "fsync" or "replace" not in events[:i]]
    story = ", then ".join(dict.fromkeys(seen))
    expect_equal(story, "fsync, then replace", "what happens to the new file before it has its name")
    for other in others:  # as a process leaves it that is killed while it writes
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(before[:100])
    free = free_descriptors()
    answer.save_checkpoint(path, {"model": model}, 3)
    expect_that(free_descriptors() == free, "save_checkpoint leaves a file open")
    call = "load_checkpoint after a save where a killed process had left half of the other file"
    expect_equal(answer.load_checkpoint(path, {"model": model}), 3, call)


def poisoned(content, bomb):
    """The same content, with `bomb` in place of pickles in it."""
    if isinstance(content, dict):
        return {key: poisoned(value, bomb) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return type(content)(poisoned(value, bomb) for value in content)
    if isinstance(content, torch.Tensor) and content.dtype == torch.uint8:
        is_pickle = bytes(content.flatten()[:1].tolist()) == pickle.PROTO
        return torch.tensor(list(bomb), dtype=torch.uint8) if is_pickle else content
    return bomb if isinstance(content, bytes) and content[:1] == pickle.PROTO else content


def test_strangers_files(answer, path, gen):
    """A file that would run code raises UnpicklingError: no code runs, and nothing changes."""
    ran = path.with_name("ran")

    class Hostile:
        def __reduce__(self):
            return (Path.touch, (ran,))

    model = model_with(gen)
    answer.save_checkpoint(path, {"model": model}, 5)
    content = torch.load(path, weights_only=False)
    torch.save({**content, "more": Hostile()} if isinstance(content, dict) else Hostile(), path)
    wanted = copy.deepcopy(model.state_dict())
    with global_rng_untouched("load_checkpoint of a hostile file"):
        expect_raises(
            pickle.UnpicklingError,
            lambda: answer.load_checkpoint(path, {"model": model}),
            "load_checkpoint of a hostile file",
        )
    expect_that(not ran.exists(), "load_checkpoint runs code that it finds in the file")
    bomb = pickle.dumps(Hostile())
    torch.save(poisoned(content, bomb), path)
    with contextlib.suppress(Exception):
        answer.load_checkpoint(path, {"model": model_with(gen)})
    what = "load_checkpoint runs code from the file: something in there is unpickled once more"
    expect_that(not ran.exists(), what, likely="pickle.loads of bytes that a checkpoint holds")
    expect_equal(dict(model.state_dict()), dict(wanted), "the weights after a hostile file")


def test_other_names(answer, path, gen):
    """Names that are not those in the checkpoint raise KeyError; any name will do, in any order."""
    first, second = model_with(gen), model_with(gen)
    answer.save_checkpoint(path, {"first": first, "second": second}, 5)
    random.random(), np.random.rand()  # the streams are elsewhere since
    before = random.getstate(), np.random.get_state()[2]
    for names in [("first",), ("second",), (), ("first", "second", "third"), ("first", "other")]:
        things = {name: model_with(gen) for name in names}
        wanted = {name: copy.deepcopy(dict(thing.state_dict())) for name, thing in things.items()}
        call = f"load_checkpoint with things named {names}"
        with global_rng_untouched(call):
            expect_raises(KeyError, lambda t=things: answer.load_checkpoint(path, t), call)
        same = (random.getstate(), np.random.get_state()[2]) == before
        expect_that(same, f"the stream of Python or NumPy has moved after {call}")
        for name, thing in things.items():
            same = dict(thing.state_dict())
            expect_equal(
                same, wanted[name], f"{name}, which is to stay as it is where names differ, after {call}"
            )
    names = [
        "step", "random", "rng", "streams", "states", "things", "names", "python", "numpy", "torch", "cuda",
    ]  # fmt: skip
    things = {name: model_with(gen) for name in names}
    wanted = {name: copy.deepcopy(dict(thing.state_dict())) for name, thing in things.items()}
    answer.save_checkpoint(path, things, 7)
    others = {name: model_with(gen) for name in reversed(names)}
    call = "load_checkpoint in another order"
    expect_equal(answer.load_checkpoint(path, others), 7, call)
    for name in names:
        expect_equal(dict(others[name].state_dict()), wanted[name], f"what is named {name!r} after {call}")
    with global_rng_untouched("load_checkpoint of a missing file"):
        missing = path.with_name("none.pt")
        expect_raises(FileNotFoundError, lambda: answer.load_checkpoint(missing, {}), "load_checkpoint")


def oracle(answer, gen):
    start = int(torch.randint(0, 1000, (), generator=gen))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.run"
        for steps in (0, 4, 6):
            run = Run(answer, start)
            weights = {name: value.clone() for name, value in run.model.state_dict().items()}
            for _ in range(steps):
                run.step()
            answer.save_checkpoint(str(path), {"sampler": run.sampler, "scaler": run.scaler}, steps)
            again = Run(answer, start + 1)
            step = answer.load_checkpoint(path, {"sampler": again.sampler, "scaler": again.scaler})
            epoch = torch.cat([next(again.sampler) for _ in range((4 - steps) % 4)] or [torch.arange(11)])
            draws = [random.random(), float(np.random.normal()), torch.randn(3)]  # steps draw alike
            results.append([step, len(epoch), epoch.dtype == torch.int64, again.scaler.get_scale(), *draws])
            results.append([weights, sorted(again.things)])
    return results
