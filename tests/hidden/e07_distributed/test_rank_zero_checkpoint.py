"""What grades rank_zero_checkpoint: who writes and waits, going on; names, whole files, failures, devices."""

import os
import sys
import tempfile
import time
from collections import OrderedDict
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

SAVE = "save_checkpoint(path, model, optimizer, step)"
LOAD = "load_checkpoint(path, model, optimizer)"


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder).resolve() / "run.pt")


def refuse():
    raise TypeError("cannot pickle a lock")


def nap():
    time.sleep(0.08)


class Trap:
    """Something in a state dict that strikes when it is pickled."""

    def __init__(self, strike):
        self.strike = strike

    def __reduce__(self):
        self.strike()
        return OrderedDict, ()


class Net(nn.Module):
    """A model with statistics; `strike` runs on the way into a file."""

    def __init__(self):
        super().__init__()
        self.enter, self.norm, self.leave = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)
        self.norm.requires_grad_(False)
        self.strike = None
        self.double()

    def forward(self, x):
        return self.leave(self.enter(x).tanh())  # without the norm, which would see one shard only

    def get_extra_state(self):
        return Trap(self.strike) if self.strike else {}

    def set_extra_state(self, state):
        pass


def prepared(rank, wrapped=True):
    """A model in which ranks differ, an optimizer with state, and the bare model."""
    net = Net()
    model = DistributedDataParallel(net) if wrapped else net
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    with torch.no_grad():
        for number, tensor in enumerate((*net.parameters(), *net.buffers()), start=1):
            tensor.copy_(torch.arange(tensor.numel()).view(tensor.shape) / 8 + number + 100 * rank)
    for p in (*net.enter.parameters(), *net.leave.parameters()):
        p.grad = torch.full_like(p, rank + 1.0)
    for _ in range(2):
        optimizer.step()
    return model, optimizer, net


def flat(model_state, optimizer_state):
    """All tensors by name, where a file may have the names of the bare module or of DDP."""
    tensors = {
        name.removeprefix("module."): t for name, t in model_state.items() if isinstance(t, torch.Tensor)
    }
    for number, entries in optimizer_state["state"].items():
        tensors |= {f"{name} of parameter {number}": torch.as_tensor(t) for name, t in entries.items()}
    return {name: t.detach().clone() for name, t in tensors.items()}


def everything(net, optimizer):
    return flat(net.state_dict(), optimizer.state_dict())


def expect_state(mine, wanted, where, others=None):
    """`others` are states that it could be by mistake, by what that is in words."""
    for what, names in (
        ("missing", wanted.keys() - mine.keys()),
        ("not asked for", mine.keys() - wanted.keys()),
    ):
        told = f"tensors of model or optimizer are {what} {where}"
        expect_that(not names, told, yours=", ".join(sorted(names)[:3]))
    for name, tensor in wanted.items():
        told = {words: lambda state=state, name=name: state[name] for words, state in (others or {}).items()}
        expect_close(mine[name], tensor, f"{name} {where}", suspects=told)


def read(path, where):
    expect_that(Path(path).exists(), f"there is no file {where}")
    try:
        return torch.load(path, weights_only=True)
    except Exception as error:
        yours = f"{type(error).__name__}: {error}"[:200]
        expect_that(False, f"the file cannot be read {where}", yours=yours, likely="it is half written")


def expect_file(path, wanted, step, where, others=None):
    checkpoint = read(path, where)
    expect_equal(checkpoint["step"], step, f"the step in the file {where}")
    expect_state(flat(checkpoint["model"], checkpoint["optimizer"]), wanted, f"in the file {where}", others)


def expect_nothing_beside(path, where):
    beside = sorted(file.name for file in Path(path).parent.iterdir() if file != Path(path))
    expect_that(not beside, f"there are other files {where}", yours=", ".join(beside), wanted="none")


class Scribes:
    """Notes the files of a folder that this process writes, renames or removes."""

    def __init__(self, folder):
        self.folder, self.seen, self.moves = str(folder), [], []
        self._save = torch.save
        torch.save = self._saving
        sys.addaudithook(self._hear)

    def _saving(self, obj, f, *args, **kwargs):
        if not hasattr(f, "write"):
            self._note("torch.save", f)
        return self._save(obj, f, *args, **kwargs)

    def _hear(self, event, args):
        if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._note("open", args[0])
        elif event in ("os.remove", "os.rename"):
            self._note(event, args[0])
            if event == "os.rename":
                self.moves.append([str(Path(os.fsdecode(name)).absolute()) for name in args[:2]])

    def _note(self, what, file):
        if not isinstance(file, int) and self.folder in (where := str(Path(os.fsdecode(file)).absolute())):
            self.seen.append((what, where))


def save(rank, world_size, answer, path):
    """A second save: what this rank has, and what it does to files."""
    model, optimizer, net = prepared(rank)
    answer.save_checkpoint(path, model, optimizer, 16)
    with torch.no_grad():
        net.enter.weight += 1
    before = everything(net, optimizer)
    scribes = Scribes(Path(path).parent)
    answer.save_checkpoint(path, model, optimizer, 17)
    return before, scribes.seen, scribes.moves


def test_rank_zero_writes(answer, path):
    """Rank 0 writes what it has, over an older file, and nobody else touches one."""
    found = run_ranks(3, save, path, answer=answer)
    for rank, (_, seen, _) in enumerate(found[1:], start=1):
        told = f"rank {rank} writes, renames or removes files"
        yours = ", ".join(what for what, _ in seen)
        expect_that(not seen, told, yours=yours, wanted="nothing: rank 0 does that")
    others = {f"that is what rank {rank} has": found[rank][0] for rank in (1, 2)}
    expect_file(path, found[0][0], 17, "after two saves on 3 ranks", others)


def save_slowly(rank, world_size, answer, path):
    """Two saves, the second slow on rank 0: the step in the file as soon as each is over."""
    model, optimizer, net = prepared(rank)
    steps = []
    for step in (1, 2):
        net.strike = nap if rank == 0 and step == 2 else None
        answer.save_checkpoint(path, model, optimizer, step)
        try:
            steps.append(torch.load(path)["step"])
        except Exception as error:
            steps.append(type(error).__name__)
        dist.barrier()  # so that nobody writes before all have read
    return steps


def test_waits_for_the_writer(answer, path):
    """When save_checkpoint returns, on whichever rank, the new file is there, however slow rank 0 is."""
    for rank, steps in enumerate(run_ranks(3, save_slowly, path, answer=answer)):
        told = f"the file is not there yet, or old, or half written, when {SAVE} returns on rank {rank}"
        expect_that(steps == [1, 2], told, yours=f"steps read after two saves: {steps}", wanted="[1, 2]")


def train(model, optimizer, steps, shard):
    for inputs, targets in steps:
        optimizer.zero_grad()
        (model(inputs[shard]) - targets[shard]).square().mean().backward()
        optimizer.step()


def made(weights):
    net = Net()
    net.load_state_dict(weights, strict=False)
    return net


def begin(rank, world_size, answer, path, weights, steps):
    model = DistributedDataParallel(made(weights))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
    train(model, optimizer, steps, slice(rank, None, world_size))
    answer.save_checkpoint(path, model, optimizer, len(steps))


def go_on(rank, world_size, answer, path, steps):
    """Before and after loading into a model that was trained otherwise, and after more steps."""
    model, optimizer, net = prepared(rank)
    before = everything(net, optimizer)
    step = answer.load_checkpoint(path, model, optimizer)
    loaded = everything(net, optimizer)
    train(model, optimizer, steps, slice(rank, None, world_size))
    return step, before, loaded, everything(net, optimizer)


def drawn(gen, steps):
    weights = {name: torch.randn(p.shape, generator=gen).double() for name, p in Net().named_parameters()}
    return weights, [[torch.randn(6, n, generator=gen).double() for n in (3, 2)] for _ in range(steps)]


def test_goes_on(answer, path, gen):
    """A run goes on from the file as one process without a break would: model, optimizer and step."""
    weights, steps = drawn(gen, 4)
    alone = made(weights)
    optimizer = torch.optim.AdamW(alone.parameters(), lr=0.05, weight_decay=0.1)
    train(alone, optimizer, steps[:2], slice(None))
    halfway = everything(alone, optimizer)
    train(alone, optimizer, steps[2:], slice(None))
    wanted = everything(alone, optimizer)
    run_ranks(3, begin, path, weights, steps[:2], answer=answer)
    found = run_ranks(2, go_on, path, steps[2:], answer=answer)
    for rank, (step, before, loaded, _) in enumerate(found):
        expect_equal(step, 2, f"{LOAD} on rank {rank} of 2")
        others = {"this is still what it was before loading": before}
        expect_state(loaded, halfway, f"after loading, on rank {rank} of 2", others)
    for rank, (*_, after) in enumerate(found):
        expect_state(after, wanted, f"two steps after loading, on rank {rank} of 2")


def outside_of_ddp(rank, world_size, answer, path):
    """Saves from DDP, loads without it, saves that, and loads it back into DDP."""
    first, second = Path(path), Path(path).with_name("bare.pt")
    model, optimizer, net = prepared(0)
    answer.save_checkpoint(first, model, optimizer, 3)
    saved = everything(net, optimizer)
    for number, (file, wrapped) in enumerate(((first, False), (second, True)), start=1):
        model, optimizer, net = prepared(number, wrapped)
        answer.load_checkpoint(file, model, optimizer)
        answer.save_checkpoint(second, model, optimizer, 4)
    return saved, everything(net, optimizer)


@pytest.mark.fine
def test_without_ddp(answer, path):
    """The names in the file are those of the bare module; a model may be in DDP or not, a path a Path."""
    run_ranks(1, save, path, answer=answer)
    names = [name for name in read(path, "of a model in DDP")["model"] if name.startswith("module.")]
    told = 'the names in the file of a model in DDP begin with "module."'
    expect_that(not names, told, yours=", ".join(names[:3]), wanted="enter.weight and so on")
    ((saved, loaded),) = run_ranks(1, outside_of_ddp, path, answer=answer)
    expect_state(loaded, saved, "saved from DDP, loaded without it, saved, loaded into DDP")


@pytest.mark.fine
def test_new_file_takes_the_place_of_the_old(answer, path):
    """The old file is not touched: a whole one from the same folder gets its name, and nothing else stays."""
    _, seen, moves = run_ranks(2, save, path, answer=answer)[0]
    in_place = [what for what, where in seen if where == path]
    told = "the old file itself is written to or removed"
    expect_that(not in_place, told, yours=", ".join(in_place), wanted="os.replace by another file")
    beside = all(Path(start).parent == Path(path).parent for start, end in moves if end == path)
    expect_that(beside, "the new file comes from another folder, where it may be on another disk")
    expect_nothing_beside(path, "after two saves")


def save_and_fail(rank, world_size, answer, path, folder, strike):
    """A good save, one that fails on rank 0, and a good one beside it: the error, and what the first has."""
    model, optimizer, net = prepared(rank)
    answer.save_checkpoint(path, model, optimizer, 1)
    state, raised = everything(net, optimizer), ["nothing"]
    net.strike = strike if rank == 0 else None
    try:
        answer.save_checkpoint(str(Path(path).parent / folder / "run.pt"), model, optimizer, 2)
    except NotImplementedError:
        raise
    except Exception as error:
        raised = [kind.__name__ for kind in type(error).__mro__]
    dist.barrier()  # so that nobody goes on to the next save
    net.strike = None
    answer.save_checkpoint(
        str(Path(path).parent.parent / f"{Path(path).parent.name}.pt"), model, optimizer, 3
    )
    return raised, state


FAILURES = {
    "a missing folder": ("missing", None, "Exception"),
    "state that cannot be pickled": ("", refuse, "TypeError"),
}


@pytest.mark.fine
@pytest.mark.parametrize("about", FAILURES)
def test_failed_save(answer, path, about):
    """If rank 0 cannot write, every rank raises, the old file stays, and the ranks can save again."""
    folder, strike, error = FAILURES[about]
    path = str(Path(path).parent / "runs" / "run.pt")
    Path(path).parent.mkdir()
    found = run_ranks(2, save_and_fail, path, folder, strike, answer=answer)
    for rank, (raised, _) in enumerate(found):
        wanted = "RuntimeError" if rank else error
        call = f"{SAVE} with {about}, on rank {rank}"
        facts = {"yours": f"raises {raised[0]}", "wanted": "the error itself" if rank == 0 else wanted}
        expect_that(wanted in raised, call, **facts)
    expect_nothing_beside(path, f"after a save with {about}")
    expect_file(path, found[0][1], 1, f"that was there before a save with {about}")
    after = Path(path).parent.parent / "runs.pt"
    expect_file(after, found[0][1], 3, f"of a save that follows one with {about}")


def load_from_a_device(rank, world_size, answer, path):
    """Loads a file whose tensors say that they lay on a device which no machine has."""
    model, optimizer, net = prepared(0)
    saved = everything(net, optimizer)
    tags = ["cuda:99"]
    torch.serialization.register_package(0, lambda _: tags[0], lambda storage, location: None)
    answer.save_checkpoint(path, model, optimizer, 5)
    tags[0] = None  # as others do, it leaves storages to who comes next
    model, optimizer, net = prepared(1)
    answer.load_checkpoint(path, model, optimizer)
    return saved, everything(net, optimizer), {str(t.device) for t in everything(net, optimizer).values()}


@pytest.mark.fine
def test_other_device(answer, path):
    """Tensors of a GPU that is not there are loaded to the model's device."""
    for rank, (saved, loaded, devices) in enumerate(run_ranks(2, load_from_a_device, path, answer=answer)):
        expect_equal(devices, {"cpu"}, f"the devices after loading tensors of cuda:99, on rank {rank}")
        expect_state(loaded, saved, f"after loading tensors of cuda:99, on rank {rank}")


def load_and_replace(rank, world_size, answer, path):
    """Rank 1 is slow to read; rank 0 replaces the file as soon as its own load is over."""
    model, optimizer, _ = prepared(rank)
    other = str(Path(path).with_name("next"))
    answer.save_checkpoint(path, model, optimizer, 5)
    answer.save_checkpoint(other, model, optimizer, 6)
    dist.barrier()
    load = torch.load

    def slowly(*args, **options):
        torch.load = load
        nap()
        return load(*args, **options)

    torch.load = slowly if rank else load
    step = answer.load_checkpoint(path, model, optimizer)
    if rank == 0:
        Path(other).replace(path)  # as a save would do
    return step


@pytest.mark.fine
def test_all_have_read(answer, path):
    """When load_checkpoint returns on one rank, all ranks have read the file."""
    steps = run_ranks(2, load_and_replace, path, answer=answer)
    told = "a rank reads a file that rank 0 has put there after its own load: it did not wait"
    expect_that(steps == [5, 5], told, yours=f"the steps {steps}", wanted="[5, 5]")


def load_nothing(rank, world_size, answer, path):
    model, optimizer, _ = prepared(rank)
    try:
        answer.load_checkpoint(path, model, optimizer)
    except NotImplementedError:
        raise
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__]
    return ["nothing"]


@pytest.mark.fine
def test_no_file(answer, path):
    """Without a file, load_checkpoint raises FileNotFoundError on every rank."""
    for rank, kinds in enumerate(run_ranks(2, load_nothing, path, answer=answer)):
        facts = {"yours": f"raises {kinds[0]}", "wanted": "FileNotFoundError"}
        expect_that("FileNotFoundError" in kinds, f"{LOAD} without a file, on rank {rank}", **facts)


def oracle(answer, gen):
    weights, steps = drawn(gen, 3)
    folder = tempfile.TemporaryDirectory()

    def path():
        return f"{folder.name}/run.pt"  # it is there as long as somebody may ask for it

    @cache
    def saved():
        run_ranks(2, begin, path(), weights, steps[:2], answer=answer)
        return torch.load(path(), weights_only=True)

    @cache
    def loaded():
        saved()
        return run_ranks(3, go_on, path(), steps[2:], answer=answer)

    return {
        "the file": lambda: [saved()["step"], flat(saved()["model"], saved()["optimizer"])],
        "loaded on three ranks": lambda: [[step, found] for step, _, found, _ in loaded()],
        "a step after loading": lambda: [after for *_, after in loaded()],
    }
