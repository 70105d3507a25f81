"""What grades rank_zero_checkpoint: the file, who writes it, waiting, failures, loading, other devices."""

import os
import signal
import sys
import tempfile
import time
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import RankFailure, run_ranks

pytestmark = pytest.mark.multi_process

CALL = "save_checkpoint(path, model, optimizer, step)"


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve() / "run.pt"


def kill_me():
    os.kill(os.getpid(), signal.SIGKILL)


def fail():
    raise OSError("no space left on device")


class Refused(TypeError):
    """An error that is lost where it is pickled: it does not keep the arguments that it takes."""

    def __init__(self, what, why):
        super().__init__(f"cannot pickle {what}: {why}")


def refuse():
    raise Refused("a lock", "it belongs to this process")


def lose():
    raise KeyError  # without a text: its str() is empty


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
        # one has the name under which DDP holds what it wraps
        self.enter, self.norm, self.module = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)
        self.norm.requires_grad_(False)
        self.strike = None
        self.double()

    def forward(self, x):
        return self.module(self.enter(x).tanh())  # without the norm, which would see one shard only

    def get_extra_state(self):
        if self.strike is lose:
            lose()
        return Trap(self.strike) if self.strike else {}

    def set_extra_state(self, state):
        pass


def prepared(rank, wrapped):
    """A model in which ranks differ, an optimizer with state, and the bare model."""
    net = Net()
    model = DistributedDataParallel(net) if wrapped else net
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    with torch.no_grad():
        for number, tensor in enumerate((*net.parameters(), *net.buffers()), start=1):
            tensor.copy_(torch.arange(tensor.numel()).view(tensor.shape) / 8 + number + 100 * rank)
    for p in net.parameters():
        p.grad = torch.full_like(p, rank + 1.0)
    optimizer.step()
    return model, optimizer, net


def flat(model_state, optimizer_state):
    """All tensors by name."""
    tensors = {name: t for name, t in model_state.items() if isinstance(t, torch.Tensor)}
    for number, entries in optimizer_state["state"].items():
        tensors |= {f"{name} of parameter {number}": torch.as_tensor(t) for name, t in entries.items()}
    return {name: t.detach().clone() for name, t in tensors.items()}


def everything(net, optimizer):
    return flat(net.state_dict(), optimizer.state_dict())


def expect_state(mine, wanted, where):
    facts = (("missing", wanted.keys() - mine.keys()), ("too many", mine.keys() - wanted.keys()))
    told = "; ".join(f"{what}: {', '.join(sorted(names)[:3])}" for what, names in facts if names)
    expect_that(not told, f"other names than those of the bare module and its optimizer {where}", yours=told)
    for name, tensor in wanted.items():
        expect_close(mine[name], tensor, f"{name} {where}")


def expect_file(path, wanted, step, where):
    """`path` holds a checkpoint of this state and step, and nothing lies beside it."""
    expect_that(path.exists(), f"there is no file {where}")
    try:
        checkpoint = torch.load(path, weights_only=True)
    except Exception as error:
        expect_that(False, f"the file cannot be read {where}", yours=f"{type(error).__name__}: {error}"[:200])
    expect_equal(checkpoint["step"], step, f"the step in the file {where}")
    expect_state(flat(checkpoint["model"], checkpoint["optimizer"]), wanted, f"in the file {where}")


def files_beside(path):
    return sorted(file.name for file in path.parent.iterdir() if file != path)


def open_files(folder):
    """What this process has open in a folder, where the system tells (Linux)."""
    handles = Path("/proc/self/fd")
    found = [os.path.realpath(handle) for handle in handles.iterdir()] if handles.exists() else []
    return [file for file in found if file.startswith(str(folder))]


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
        elif event in ("os.remove", "os.rename", "os.mkdir"):
            self._note(event, args[0])
            if event == "os.rename":
                self.moves.append([str(Path(os.fsdecode(name)).absolute()) for name in args[:2]])

    def _note(self, what, file):
        if not isinstance(file, int) and self.folder in (where := str(Path(os.fsdecode(file)).absolute())):
            self.seen.append((what, where))


def save(rank, world_size, answer, path, wrapped):
    """A second save: what this rank has, what it does to files, and from where the file got its name."""
    os.environ["LOCAL_RANK"] = "0"  # each is the first one of its machine
    model, optimizer, net = prepared(rank, wrapped)
    os.chdir(path.parent)
    file = path if wrapped else path.name  # in the current folder
    net.norm.eval()
    first = everything(net, optimizer)
    answer.save_checkpoint(file, model, optimizer, 16)
    same = [part.training for part in net.modules()] == [True, True, False, True]
    same = same and all(
        torch.equal(tensor, first[name]) for name, tensor in everything(net, optimizer).items()
    )
    with torch.no_grad():
        net.enter.weight += 1
    before = everything(net, optimizer)
    scribes = Scribes(path.parent)
    answer.save_checkpoint(file, model, optimizer, 17 + wrapped)
    in_place = [what for what, where in scribes.seen if where == str(path)]
    moves = [Path(start).parent == path.parent for start, end in scribes.moves if end == str(path)]
    return before, [what for what, _ in scribes.seen], in_place, moves, same, open_files(path.parent)


@pytest.mark.parametrize(("world_size", "wrapped"), [(1, False), (3, True)], ids=["bare", "wrapped"])
def test_file(answer, path, world_size, wrapped):
    """Rank 0 writes what it has, under the names of the bare module, and nobody else touches a file."""
    path = path.with_suffix(".tmp") if wrapped else path
    found = run_ranks(world_size, save, path, wrapped, answer=answer)
    where = f"after saving on {world_size} ranks, {'in DDP' if wrapped else 'without DDP'}"
    for rank, (_, seen, _, _, same, _) in enumerate(found):
        expect_that(
            same, f"save_checkpoint changes the model, a mode or the optimizer on rank {rank} {where}"
        )
        if rank:
            told = f"rank {rank} writes, renames or removes files {where}"
            expect_that(not seen, told, yours=", ".join(seen), wanted="nothing: rank 0 does that")
    expect_file(path, found[0][0], 17 + wrapped, where)
    beside, in_place = files_beside(path), found[0][2]
    expect_that(not beside, f"there are other files {where}", yours=", ".join(beside))
    told = f"the old file itself is touched before the new one is whole {where}"
    expect_that(not in_place, told, yours=", ".join(in_place), wanted="os.replace by another file")
    expect_that(all(found[0][3]), "the new file comes from another folder, where it may be on another disk")
    still_open = f"{len(found[0][5])} of them after two saves"
    expect_that(
        not found[0][5],
        f"save_checkpoint leaves a file open on rank 0 {where}",
        yours=still_open,
        wanted="none",
    )


def save_slowly(rank, world_size, answer, path):
    """Two saves, the second slow on rank 0: the step in the file as soon as each is over."""
    model, optimizer, net = prepared(rank, True)
    steps = []
    for step in (0, 2):
        net.strike = nap if rank == 0 and step == 2 else None
        answer.save_checkpoint(path, model, optimizer, step)
        steps.append(torch.load(path)["step"] if path.exists() else None)
        dist.barrier()  # so that nobody writes before all have read
    return steps


def test_waits_for_the_writer(answer, path):
    """When save_checkpoint returns, on whichever rank, the new file is there, however slow rank 0 is."""
    for rank, steps in enumerate(run_ranks(3, save_slowly, path, answer=answer)):
        expect_equal(steps, [0, 2], f"the steps in the file after two saves, read by rank {rank}")


FAILURES = {  # what strikes, and the file in the folder of run.pt
    "a full disk (an OSError)": (fail, "run.pt"),
    "a missing folder": (None, "missing/run.pt"),
    "state that cannot be pickled (a TypeError)": (refuse, "run.pt"),
    "a state_dict that raises a KeyError without a text": (lose, "run.pt"),
    "a path that is a folder": (None, "folder"),
}


def save_and_fail(rank, world_size, answer, path):
    """A good save, some that fail on rank 0, and a good one."""
    model, optimizer, net = prepared(rank, True)
    answer.save_checkpoint(path, model, optimizer, 1)
    state, raised = everything(net, optimizer), []
    if rank == 0:
        path.with_name("folder").mkdir()
    for about, (strike, name) in FAILURES.items():
        if rank == 1:  # in case that it waits for ever
            (path.parent.parent / "tried").write_text(about)
        file = path.parent / name
        net.strike = strike if rank == 0 else None
        raised.append(_raised(answer, file, model, optimizer, path.parent))
        dist.barrier()  # so that nobody goes on to the next save
    net.strike = None
    between = (
        (path.read_bytes(), [name for name in files_beside(path) if name != "folder"]) if rank == 0 else None
    )
    answer.save_checkpoint(path.with_name("next.ckpt"), model, optimizer, 3)
    return raised, state, between


def _raised(answer, file, model, optimizer, folder):
    """The kinds of the error, and what is open while somebody looks at it."""
    try:
        answer.save_checkpoint(file, model, optimizer, 2)
    except NotImplementedError:
        raise
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__], open_files(folder)
    return ["nothing"], []


def test_failed_save(answer, path):
    """If rank 0 cannot write, every rank raises, the old file stays, and the ranks can save again."""
    path = path.parent / "runs" / "run.pt"
    path.parent.mkdir()
    tried = path.parent.parent / "tried"
    try:
        found = run_ranks(2, save_and_fail, path, answer=answer)
    except RankFailure as failure:
        told = (
            f"rank 0 fails on {tried.read_text()}; then all are to raise"
            if tried.exists()
            else "a save in which nothing fails"
        )
        raise RankFailure(f"{failure}\n  tried   {told}") from None
    for rank, (raised, _, _) in enumerate(found):
        errors = ["OSError", "Exception", "TypeError", "KeyError", "OSError"]
        for about, error, (kinds, still_open) in zip(FAILURES, errors, raised, strict=True):
            kind = "RuntimeError" if rank else error
            expect_that(
                kind in kinds, f"{CALL} with {about}, on rank {rank}", yours=f"raises {kinds[0]}", wanted=kind
            )
            told = f"the other file is still open where {CALL} has raised, with {about}, on rank {rank}"
            expect_that(not still_open, told, yours=f"{len(still_open)} open", wanted="none")
    _, state, (content, beside) = found[0]
    expect_that(not beside, "a failed save leaves files beside the checkpoint", yours=", ".join(beside))
    expect_file(path.with_name("next.ckpt"), state, 3, "after a save that follows a failed one")
    path.write_bytes(content)
    expect_file(path, state, 1, "after a save that failed")


def save_and_die(rank, world_size, answer, path):
    """A good save, and one that is killed just before it renames the other file, or else at its end."""
    model, optimizer, net = prepared(rank, False)
    answer.save_checkpoint(path, model, optimizer, 1)
    torch.save(everything(net, optimizer), path.parent.parent / f"{path.parent.name}.state")
    sys.addaudithook(lambda event, _: event == "os.rename" and kill_me())
    answer.save_checkpoint(path, model, optimizer, 2)
    kill_me()


def save_after_all(rank, world_size, answer, path):
    model, optimizer, net = prepared(rank, False)
    answer.save_checkpoint(path, model, optimizer, 3)
    return everything(net, optimizer)


def test_killed_while_it_writes(answer, path):
    """If rank 0 is killed in the middle, the old checkpoint is whole, and the next process can save."""
    path = path.parent / "runs" / "run.pt"
    path.parent.mkdir()
    with pytest.raises(RankFailure, match="SIGKILL"):
        run_ranks(1, save_and_die, path, answer=answer)
    state = torch.load(path.parent.parent / "runs.state")
    expect_file(path, state, 1, "after a save that was killed")
    (after,) = run_ranks(1, save_after_all, path, answer=answer)
    expect_file(path, after, 3, "after a save in a process that follows a killed one")


def train(model, optimizer, steps, shard):
    for inputs, targets in steps:
        optimizer.zero_grad()
        (model(inputs[shard]) - targets[shard]).square().mean().backward()
        optimizer.step()


def begin(rank, world_size, answer, path, weights, steps):
    net = Net()
    net.load_state_dict(weights, strict=False)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
    train(model, optimizer, steps, slice(rank, None, world_size))
    answer.save_checkpoint(path, model, optimizer, len(steps))


def go_on(rank, world_size, answer, path, steps, wrapped):
    """What is there after loading into a model that has been trained otherwise, and after more steps."""
    model, optimizer, net = prepared(rank, wrapped)
    step = answer.load_checkpoint(path if wrapped else str(path), model, optimizer)
    loaded = everything(net, optimizer)
    train(model, optimizer, steps, slice(rank, None, world_size))
    return step, loaded, everything(net, optimizer)


def test_goes_on(answer, path, gen):
    """A run goes on from the file, on any number of ranks and with or without DDP, like one process."""
    steps = [[torch.randn(6, n, generator=gen).double() for n in (3, 2)] for _ in range(4)]
    alone = Net()
    weights = {name: torch.randn(p.shape, generator=gen).double() for name, p in alone.named_parameters()}
    alone.load_state_dict(weights, strict=False)
    optimizer = torch.optim.AdamW(alone.parameters(), lr=0.05, weight_decay=0.1)
    train(alone, optimizer, steps[:2], slice(None))
    halfway = everything(alone, optimizer)
    train(alone, optimizer, steps[2:], slice(None))
    wanted = everything(alone, optimizer)
    run_ranks(3, begin, path, weights, steps[:2], answer=answer)
    for world_size, wrapped in ((2, True), (1, False)):
        how = f"{world_size} ranks, {'in DDP' if wrapped else 'without DDP'}"
        found = run_ranks(world_size, go_on, path, steps[2:], wrapped, answer=answer)
        for rank, (step, loaded, _) in enumerate(found):
            expect_equal(step, 2, f"load_checkpoint(path, model, optimizer) on rank {rank} of {how}")
            expect_state(loaded, halfway, f"after loading, on rank {rank} of {how}")
        for rank, (_, _, after) in enumerate(found):
            expect_state(after, wanted, f"after two more steps, on rank {rank} of {how}")


def be_slow_once(wait):
    """Have the next torch.load of this process wait first."""
    load = torch.load

    def slowly(*args, **options):
        torch.load = load
        wait()
        return load(*args, **options)

    torch.load = slowly


def load_from_a_device(rank, world_size, answer, path):
    """Loads a file whose tensors say that they lay on a device which no machine has; rank 0 is fast."""
    model, optimizer, net = prepared(0, True)
    if rank == 0:
        state = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": 5}
        tags = ["cuda:99"]
        torch.serialization.register_package(0, lambda _: tags[0], lambda storage, location: None)
        torch.save(state, path)
        tags[0] = None  # as others do, it leaves storages to who comes next
        torch.save({**state, "step": 6}, path.with_name("next"))
    else:
        be_slow_once(nap)
    dist.barrier()
    wanted = everything(net, optimizer)
    model, optimizer, net = prepared(rank + 1, True)
    net.norm.eval()
    step = answer.load_checkpoint(path, model, optimizer)
    if rank == 0:
        path.with_name("next").replace(path)  # as a save would do
    devices = {str(t.device) for t in everything(net, optimizer).values()}
    grads = [None if p.grad is None else p.grad.unique().tolist() for p in net.parameters()]
    modes = [part.training for part in net.children()]
    return step, wanted, everything(net, optimizer), devices, grads, modes


def test_other_device(answer, path):
    """Tensors of a GPU that is not there are loaded to the model's device, by all ranks from one file."""
    for rank, found in enumerate(run_ranks(2, load_from_a_device, path, answer=answer)):
        step, wanted, loaded, devices, grads, modes = found
        told = "; rank 0 has replaced the file when its own load was over"
        expect_equal(step, 5, f"load_checkpoint(path, model, optimizer) on rank {rank}{told}")
        expect_equal(devices, {"cpu"}, f"the devices after loading, on rank {rank}")
        told = f"after load_checkpoint on rank {rank}"
        expect_equal(grads, [[rank + 2.0]] * len(grads), f"the numbers in each parameter's `.grad` {told}")
        expect_equal(modes, [True, False, True], f"the training flags of the model's three parts {told}")
        expect_state(loaded, wanted, f"after loading, on rank {rank}")


def load_nothing(rank, world_size, answer, path):
    model, optimizer, _ = prepared(rank, True)
    try:
        answer.load_checkpoint(path, model, optimizer)
    except NotImplementedError:
        raise
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__]
    return ["nothing"]


def test_no_file(answer, path):
    """Without a file, load_checkpoint raises FileNotFoundError on every rank."""
    for rank, kinds in enumerate(run_ranks(2, load_nothing, path, answer=answer)):
        expect_that(
            "FileNotFoundError" in kinds,
            f"load_checkpoint(path, model, optimizer) without a file, on rank {rank}",
            yours=f"raises {kinds[0]}",
            wanted="FileNotFoundError",
        )


def oracle(answer, gen):
    steps = [[torch.randn(6, n, generator=gen).double() for n in (3, 2)] for _ in range(3)]
    weights = {name: torch.randn(p.shape, generator=gen).double() for name, p in Net().named_parameters()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pt"
        run_ranks(2, begin, path, weights, steps[:2], answer=answer)
        checkpoint = torch.load(path, weights_only=True)
        saved = flat(checkpoint["model"], checkpoint["optimizer"])
        found = run_ranks(3, go_on, path, steps[2:], True, answer=answer)
    return [checkpoint["step"], saved, [[step, loaded, after] for step, loaded, after in found]]
