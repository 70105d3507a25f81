"""What grades process_group: who is who, a process alone, blocks that raise, CUDA; many at once, errors."""

import os
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

from grader.checks import expect_equal, expect_that
from grader.checks.distributed import run_ranks

TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
PATIENCE = timedelta(minutes=7)
NAMES = "rank, local_rank, world_size and device of me"


class Lost(Exception):
    """What goes wrong in a block."""


def test_local_device(answer, monkeypatch):
    """LOCAL_RANK picks the device, not RANK; without it the device is number 0."""
    monkeypatch.setenv("RANK", "5")
    suspects = {
        "that is RANK, a number among all machines: LOCAL_RANK is the one on this machine": lambda: (
            torch.device("cuda", 5)
        ),
        "the device has no number: all processes of a machine would share one": lambda: torch.device("cuda"),
        "it is not asked whether there is such a device": lambda: torch.device("cpu"),
    }
    for number in ("0", "3"):
        monkeypatch.setenv("LOCAL_RANK", number)
        call = f'local_device("cuda") with RANK=5 and LOCAL_RANK={number}'
        expect_equal(answer.local_device("cuda"), torch.device("cuda", int(number)), call, suspects=suspects)
    monkeypatch.delenv("LOCAL_RANK")
    call = 'local_device("cuda") without LOCAL_RANK'
    expect_equal(answer.local_device("cuda"), torch.device("cuda", 0), call)
    expect_equal(answer.local_device("cpu"), torch.device("cpu"), 'local_device("cpu")')


def leave_torchrun(but=()):
    """Have the environment of a process that was started by hand."""
    for name in list(os.environ):
        if name not in but and (name in TORCHRUN or name.startswith("TORCHELASTIC_")):
            del os.environ[name]


def told(error):
    return None if error is None else f"{type(error).__name__}: {error}"


def caught(work):
    """The exception that `work` raises, of any kind; a stub's passes through."""
    try:
        work()
    except NotImplementedError:
        raise
    except BaseException as error:
        return error
    return None


def group():
    """The default group as this process knows it."""
    return (dist.get_rank(), dist.get_world_size(), dist.get_backend()) if dist.is_initialized() else None


def summed(numbers):
    if not dist.is_initialized():
        return None
    total = torch.tensor(numbers)
    dist.all_reduce(total)
    return total.tolist()


def timeout_of_the_group():
    """How long its collectives wait; as asked for where this PyTorch does not tell."""
    if not dist.is_initialized():
        return None
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    return str(getattr(getattr(backend, "options", None), "_timeout", PATIENCE))


def meet(rank, world_size):
    """Wait for all ranks, by other means than a group, so that none leaves while another is connecting."""
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), is_master=False)
    store.set(f"{rank} is done", "")
    store.wait([f"{other} is done" for other in range(world_size)])


def join(rank, world_size, answer, local_ranks, numbers, alone=False):
    """Who one process is, the group inside, a sum over it, its patience, and the group after the block."""
    os.environ["LOCAL_RANK"] = str(local_ranks[rank])
    store = None if alone else dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), is_master=False)
    if alone:
        leave_torchrun()
    with answer.process_group("cpu", PATIENCE) as me:
        found = group(), summed(numbers[rank]), timeout_of_the_group()
        if store:
            meet(rank, world_size)
    return (me.rank, me.local_rank, me.world_size, str(me.device)), *found, group()


def expect_joined(found, wanted, total, where):
    member, inside, summed_up, patience, after = found
    rank, local_rank, world_size, _ = wanted
    suspects = {
        "that is RANK, the number among all: local_rank is the one on this machine": lambda: rank,
        "that is LOCAL_RANK, the number on this machine: rank is the one among all": lambda: local_rank,
    }
    for name, mine, right in zip(("rank", "local_rank", "world_size", "device"), member, wanted, strict=True):
        expect_equal(mine, right, f"me.{name} {where}", suspects=suspects)
    expect_that(inside is not None, f"there is no group inside the block {where}", wanted="a group")
    expect_equal(inside, (rank, world_size, "gloo"), f"rank, size and backend of the group {where}")
    expect_equal(summed_up, total, f"the sum of one number from each rank {where}")
    suspects = {"that is torch's own time-out: `timeout` is to be passed on": lambda: "0:30:00"}
    expect_equal(patience, str(PATIENCE), f"the time-out of the group {where}", suspects=suspects)
    suspects = {"it is never left": lambda: inside}
    expect_equal(after, None, f"the group after the block {where}", suspects=suspects)


@pytest.mark.multi_process
def test_members(answer):
    """Each process finds its place in a group of all, and the group is gone after the block."""
    local_ranks = [0, 1, 0]
    for rank, found in enumerate(run_ranks(3, join, local_ranks, [1, 2, 4], answer=answer, init=False)):
        where = f"with RANK={rank}, LOCAL_RANK={local_ranks[rank]}, WORLD_SIZE=3"
        expect_joined(found, (rank, local_ranks[rank], 3, "cpu"), 7, where)


@pytest.mark.multi_process
def test_alone(answer):
    """Without RANK a process is a group of one, in which collectives work."""
    (found,) = run_ranks(1, join, [0], [5], True, answer=answer, init=False)
    expect_joined(found, (0, 0, 1, "cpu"), 5, "without RANK in the environment")


def fail(rank, world_size, answer, errors):
    """What comes out of blocks that raise these errors, and which group there is after each."""
    leave_torchrun()
    found = []
    for raised in errors:

        def work(raised=raised):
            with answer.process_group():
                raise raised

        error = caught(work)
        found.append((type(raised).__name__, error is raised, told(error), group()))
        if dist.is_initialized():
            dist.destroy_process_group()
    return found


def expect_out(answer, errors):
    (found,) = run_ranks(1, fail, errors, answer=answer, init=False)
    for name, same, error, after in found:
        facts = {"yours": error or "nothing", "wanted": f"the {name} of the block"}
        expect_that(same, f"a {name} in the block does not come out", **facts)
        still = f"the group is still there after a block that raises {name}"
        expect_that(after is None, still, likely="what must happen in any case belongs into `finally`")


@pytest.mark.multi_process
def test_a_block_that_raises(answer):
    """What the block raises comes out as it is, and the group is gone."""
    expect_out(answer, [Lost("shard 7")])


@pytest.mark.fine
@pytest.mark.multi_process
def test_however_the_block_ends(answer):
    """The same for KeyboardInterrupt, sys.exit and other errors."""
    expect_out(answer, [KeyboardInterrupt(), SystemExit(0), ValueError("lr")])


def one_fails(rank, world_size, answer):
    """Rank 1 raises in the block, where rank 0 waits in a collective."""

    def work():
        with answer.process_group(timeout=timedelta(seconds=60)):
            meet(rank, world_size)
            if rank == 1:
                raise Lost("shard 7")
            dist.all_reduce(torch.ones(3))

    return told(caught(work)), group()


@pytest.mark.multi_process
def test_a_rank_that_fails(answer):
    """A rank that fails leaves at once, so that the others get an error in the collective they are in."""
    waiting, failing = run_ranks(2, one_fails, answer=answer, init=False)
    expect_equal(failing, ("Lost: shard 7", None), "the error on rank 1, whose block raises, and its group")
    expect_that(waiting[0] is not None, "rank 0 does not hear that rank 1 has failed", yours="no error")
    expect_equal(waiting[1], None, "the group on rank 0 after the block")


def joined_with(answer, monkeypatch):
    """The backend that process_group("cuda") joins with, the current device then; CUDA is pretended."""
    current, found = [3], []

    def join_group(backend=None, *args, **kwargs):
        found.append((str(backend), current[0]))
        raise Lost("here the test ends")

    for place in (dist, dist.distributed_c10d, answer):
        if hasattr(place, "init_process_group"):
            monkeypatch.setattr(place, "init_process_group", join_group)
    for name in ("_cuda_setDevice", "_accelerator_setDeviceIndex"):
        monkeypatch.setattr(torch._C, name, lambda n: current.__setitem__(0, n), raising=False)
    for name, value in {"is_available": True, "device_count": 4, "init": None, "_lazy_init": None}.items():
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    for name, value in zip(TORCHRUN, ("1", "2", "1", "127.0.0.1", "0"), strict=True):
        monkeypatch.setenv(name, value)
    caught(lambda: answer.process_group("cuda").__enter__())
    return found[0] if found else ("none", None)


def test_cuda(answer, monkeypatch):
    """On "cuda" the group is one of NCCL."""
    backend, _ = joined_with(answer, monkeypatch)
    expect_that("nccl" in backend, 'the backend in process_group("cuda")', yours=backend, wanted="nccl")


@pytest.mark.fine
def test_cuda_first(answer, monkeypatch):
    """On "cuda" the current device is set before the process joins."""
    _, current = joined_with(answer, monkeypatch)
    expect_equal(current, 1, "the current CUDA device on joining, with LOCAL_RANK=1")


def alone(rank, world_size, answer):
    """Every process has a group of its own: one is inside while the other comes, and comes again."""
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), is_master=False)
    found, same = [], True
    if rank == 1:
        store.wait(["inside"])
    for turn in range(2):
        # for the first block, something has left WORLD_SIZE and an address, at which somebody else listens
        leave_torchrun(but=() if turn else ("WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))
        before = dict(os.environ)
        with answer.process_group() as me:
            if rank == 0 and turn == 0:
                store.set("inside", "yes")
                store.wait(["done"])
            facts = group(), summed(turn + 7), None
            found.append((me.rank, me.local_rank, me.world_size, str(me.device), *facts))
            same = same and dict(os.environ) == before  # what is started here inherits it
        same = same and dict(os.environ) == before
    if rank == 1:
        store.set("done", "yes")
    return found, group(), same


@pytest.mark.fine
@pytest.mark.multi_process
def test_alone_beside_others(answer):
    """Processes without RANK are alone, again and again, also while others are running."""
    for number, (found, after, same) in enumerate(run_ranks(2, alone, answer=answer, init=False)):
        where = f"in process {number} of two without RANK"
        for turn, (*member, mine, total, _) in enumerate(found):
            block = f"in block {turn + 1} of 2 {where}"
            expect_equal((*member, mine), (0, 0, 1, "cpu", (0, 1, "gloo")), f"{NAMES}, and the group {block}")
            expect_equal(total, turn + 7, f"the sum of one number over the group {block}")
        expect_equal(after, None, f"the group after the blocks {where}")
        expect_that(same, f"os.environ has changed {where}")


def misuse(rank, world_size, answer):
    """What comes of blocks that cannot be entered: is the error right, the error, the group after it."""
    found, everything, wrong = {}, dict(os.environ), (ValueError, KeyError)

    def enter(*arguments):
        with answer.process_group(*arguments):
            pass

    for name in TORCHRUN[1:]:
        del os.environ[name]
        error = caught(enter)
        found[f"{name} is missing, RANK is set"] = (
            isinstance(error, wrong) and name in str(error),
            error,
            group(),
        )
        os.environ.update(everything)
    leave_torchrun()

    def enter_twice():
        with answer.process_group():
            error = caught(enter)
            inside = None if group() == (0, 1, "gloo") else "not the outer one"
            found["a block inside of a block"] = isinstance(error, (ValueError, RuntimeError)), error, inside

    caught(enter_twice)
    if not torch.cuda.is_available():
        error = caught(lambda: enter("cuda"))
        found['process_group("cuda") without CUDA'] = error is not None, error, group()
    return {what: (right, told(error), after) for what, (right, error, after) in found.items()}


@pytest.mark.fine
@pytest.mark.multi_process
def test_misuse(answer):
    """Errors: a variable that is missing, a group inside of a group, CUDA where there is none."""
    (found,) = run_ranks(1, misuse, answer=answer, init=False)
    for what, (right, error, after) in found.items():
        expect_that(right, what, yours=error or "no error", wanted="the error of the statement")
        expect_equal(after, None, f"the group after that: {what}")


def on_gpu(rank, world_size, answer):
    with answer.process_group("cuda") as me:
        total = torch.tensor([rank + 1.0], device=me.device)
        dist.all_reduce(total)
        return str(me.device), torch.cuda.current_device(), group(), total.item()


@pytest.mark.gpu
@pytest.mark.multi_process
def test_on_a_gpu(answer):
    """On a GPU the group talks over NCCL."""
    (found,) = run_ranks(1, on_gpu, answer=answer, init=False, timeout=60.0)
    expect_equal(found, ("cuda:0", 0, (0, 1, "nccl"), 1.0), "me.device, current device, group, sum on a GPU")


def oracle(answer, gen):
    def two(gen, part):
        places = torch.randint(10**9, (2,), generator=gen).tolist()
        numbers = torch.randn(2, 5, generator=gen).tolist()
        return [found[part] for found in run_ranks(2, join, places, numbers, answer=answer, init=False)]

    def alone(gen):
        numbers = torch.randn(1, 5, generator=gen).tolist()
        ((member, _, total, *_),) = run_ranks(1, join, [0], numbers, True, answer=answer, init=False)
        return [member, total]

    return {
        "who two processes are": lambda gen: two(gen, 0),
        "the sum of what two processes have": lambda gen: two(gen, 2),
        "a process alone, and its sum": alone,
    }
