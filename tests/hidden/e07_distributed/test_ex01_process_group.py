"""What grades process_group: who is who, a process alone, errors, time-outs, and what is left behind."""

import os
import socket
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

from grader.checks import CheckFailure, expect_equal, expect_that
from grader.checks.distributed import run_ranks

TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
SHORT = timedelta(seconds=0.2)


def test_local_device(answer, monkeypatch):
    """LOCAL_RANK picks the device, not RANK; without it the device is number 0."""
    monkeypatch.setenv("RANK", "5")
    for number in ("0", "3"):
        monkeypatch.setenv("LOCAL_RANK", number)
        for kind in ("cuda", "xpu"):
            wanted = torch.device(kind, int(number))
            call = f'local_device("{kind}") with RANK=5 and LOCAL_RANK={number}'
            expect_equal(answer.local_device(kind), wanted, call)
    monkeypatch.delenv("LOCAL_RANK")
    expect_equal(
        answer.local_device("cuda"), torch.device("cuda", 0), 'local_device("cuda") without LOCAL_RANK'
    )
    expect_equal(answer.local_device("cpu"), torch.device("cpu"), 'local_device("cpu") without LOCAL_RANK')


def leave_torchrun(but=()):
    """Have the environment of a process that was started by hand."""
    for name in list(os.environ):
        if name not in but and (name in TORCHRUN or name.startswith("TORCHELASTIC_")):
            del os.environ[name]


def told(error):
    return None if error is None else f"{type(error).__name__}: {error}"


def names(error, variable):
    """Whether it is one of the errors that name a variable which is missing, and does."""
    return isinstance(error, (ValueError, KeyError)) and variable in str(error)


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


def summed(number):
    if not dist.is_initialized():
        return None
    total = torch.tensor([number])
    dist.all_reduce(total)
    return total.item()


def timeout_of_the_group():
    """How long its collectives wait; ten minutes where this PyTorch does not tell."""
    if not dist.is_initialized():
        return None
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    return str(getattr(getattr(backend, "options", None), "_timeout", timedelta(minutes=10)))


def meet(rank, world_size):
    """Wait for all ranks, by other means than a group, so that none leaves while another is connecting."""
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), is_master=False)
    store.set(f"{rank} is done", "")
    store.wait([f"{other} is done" for other in range(world_size)])


def join(rank, world_size, answer):
    """One process of machines with two each: the member, the group inside, sums, the group after."""
    os.environ.update(LOCAL_RANK=str(rank % 2), LOCAL_WORLD_SIZE="2")
    before = dict(os.environ)
    with answer.process_group("cpu") as me:
        inside, total, patience = group(), summed(rank + 1), timeout_of_the_group()
        whole = dist.new_group().size()
        same = dict(os.environ) == before
        meet(rank, world_size)
    same = same and dict(os.environ) == before
    return (me.rank, me.local_rank, me.world_size, me.device), (inside, total, whole, patience), group(), same


def expect_member(member, wanted, where):
    for name, yours, right in zip(
        ("rank", "local_rank", "world_size", "device"), member, wanted, strict=True
    ):
        expect_equal(yours, right, f"the me.{name} {where}")


def expect_group(yours, wanted, where):
    facts = {"yours": yours or "none", "wanted": wanted}
    facts = {name: f"rank {g[0]} of {g[1]}, {g[2]}" if g != "none" else g for name, g in facts.items()}
    expect_that(yours == wanted, f"wrong default group {where}", **facts)


@pytest.mark.multi_process
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_members(answer, world_size):
    """Each process finds its place in a group of all, and the group is gone after the block."""
    total = world_size * (world_size + 1) // 2
    for rank, found in enumerate(run_ranks(world_size, join, answer=answer, init=False)):
        where = f"with RANK={rank}, LOCAL_RANK={rank % 2}, WORLD_SIZE={world_size}"
        member, (mine, sum_inside, size, patience), after, same = found
        expect_member(member, (rank, rank % 2, world_size, torch.device("cpu")), where)
        expect_group(mine, (rank, world_size, "gloo"), f"inside the block {where}")
        expect_equal(sum_inside, total, f"the sum of rank + 1 over the group {where}")
        expect_equal(size, world_size, f"the size of dist.new_group() inside the block {where}")
        expect_equal(patience, "0:10:00", f'the timeout of the group in process_group("cpu") {where}')
        expect_equal(after, None, f"the group after the block {where}")
        expect_that(same, f"os.environ has changed {where}")


def alone(rank, world_size, answer):
    """Every process has a group of its own: one is inside while the other comes, and comes again."""
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), is_master=False)
    found, same = [], True
    if rank == 1:
        store.wait(["inside"])
    for turn in range(3):
        # for the first block, something has left WORLD_SIZE and an address, at which somebody else listens
        leave_torchrun(but=() if turn else ("WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))
        before = dict(os.environ)
        with answer.process_group() as me:
            if rank == 0 and turn == 0:
                store.set("inside", "yes")
                store.wait(["done"])
            facts = group(), summed(turn + 7), timeout_of_the_group()
            found.append((me.rank, me.local_rank, me.world_size, str(me.device), *facts))
            same = same and dict(os.environ) == before  # what is started here inherits it
        same = same and dict(os.environ) == before
    if rank == 1:
        store.set("done", "yes")
    return found, group(), same


@pytest.mark.multi_process
def test_alone(answer):
    """Without RANK a process is a group of one, again and again, also while others are running."""
    for number, (found, after, same) in enumerate(run_ranks(2, alone, answer=answer, init=False)):
        where = f"in process {number} of two without RANK"
        for turn, (*member, mine, total, patience) in enumerate(found):
            block = f"in block {turn + 1} of 3 {where}"
            expect_member(member, (0, 0, 1, "cpu"), block)
            expect_group(mine, (0, 1, "gloo"), block)
            expect_equal(total, turn + 7, f"the sum of one number over the group {block}")
            expect_equal(patience, "0:10:00", f"the timeout of the group in process_group() {block}")
        expect_equal(after, None, f"the group after the blocks {where}")
        expect_that(same, f"os.environ has changed {where}")


class Lost(Exception):
    """What goes wrong in a block."""


def end_in_many_ways(rank, world_size, answer):
    """What comes out of blocks that raise, and which group there is after them."""
    leave_torchrun()
    found = []
    for raised in (
        Lost("shard 7"),
        ValueError("lr"),
        RuntimeError("nan"),
        KeyboardInterrupt(),
        SystemExit(0),
    ):

        def work(raised=raised):
            with answer.process_group():
                raise raised

        error = caught(work)
        found.append((type(raised).__name__, error is raised, told(error), group()))
        if dist.is_initialized():
            dist.destroy_process_group()

    def leave():
        for _ in range(2):
            with answer.process_group():
                return

    leave()
    return found, group()


@pytest.mark.multi_process
def test_however_the_block_ends(answer):
    """What the block raises comes out as it is, and the group is gone."""
    ((found, after_return),) = run_ranks(1, end_in_many_ways, answer=answer, init=False)
    for name, same, error, after in found:
        facts = {"yours": error, "wanted": f"the {name} of the block"}
        expect_that(same, f"a {name} in the block does not come out", **facts)
        expect_equal(after, None, f"the group after a block that raises {name}")
    expect_equal(after_return, None, "the group after a block that returns from its function")


FAILURES = {1: Lost("shard 7"), 2: KeyboardInterrupt()}


def some_fail(rank, world_size, answer):
    """Ranks 1 and 2 raise in the block, where rank 0 waits in a collective."""

    def work():
        with answer.process_group(timeout=timedelta(seconds=60)):
            meet(rank, world_size)
            if rank in FAILURES:
                raise FAILURES[rank]
            dist.all_reduce(torch.ones(3))

    return told(caught(work)), group()


@pytest.mark.multi_process
def test_a_rank_that_fails(answer):
    """A rank that fails leaves at once, so that the others get an error in the collective they are in."""
    for rank, (error, after) in enumerate(run_ranks(3, some_fail, answer=answer, init=False)):
        if rank in FAILURES:
            wanted = told(FAILURES[rank])
            expect_equal(error, wanted, f"the error on rank {rank}, whose block raises")
        else:
            facts = {"yours": "no error", "wanted": "the error of a connection that was closed"}
            expect_that(
                error is not None, f"rank {rank} does not hear that ranks 1 and 2 have failed", **facts
            )
        expect_equal(after, None, f"the group on rank {rank} after the block")


def misuse(rank, world_size, answer):
    """What comes of blocks that cannot be entered: errors, and the group after each."""
    found = {}

    def enter(*arguments):
        with answer.process_group(*arguments):
            pass

    everything = dict(os.environ)
    for name in TORCHRUN[1:]:
        del os.environ[name]
        error = caught(enter)
        found[name] = names(error, name), told(error), group()
        os.environ.update(everything)
    leave_torchrun()

    def enter_twice():
        with answer.process_group():
            error = caught(enter)
            found["twice"] = isinstance(error, (RuntimeError, ValueError)), told(error), group(), summed(4)

    found["after"] = told(caught(enter_twice)), group()
    if not torch.cuda.is_available():
        found["cuda"] = told(caught(lambda: enter("cuda"))), group()
    return found


@pytest.mark.multi_process
def test_misuse(answer):
    """Errors: a variable that is missing, a group inside of a group, CUDA where there is none."""
    (found,) = run_ranks(1, misuse, answer=answer, init=False)
    for name in TORCHRUN[1:]:
        is_named, error, after = found[name]
        facts = {"yours": error or "no error", "wanted": f"a ValueError or KeyError that names {name}"}
        expect_that(is_named, f"{name} is missing, RANK is set", **facts)
        expect_equal(after, None, f"the group after process_group() without {name}")
    is_right, error, after, total = found["twice"]
    facts = {"yours": error or "no error", "wanted": "RuntimeError or ValueError"}
    expect_that(is_right, "a block inside of a block", **facts)
    expect_equal((after, total), ((0, 1, "gloo"), 4), "the outer group and a sum over it, after that error")
    expect_equal(found["after"], (None, None), "the error of the outer block, and the group after it")
    if "cuda" in found:
        error, after = found["cuda"]
        expect_that(
            error is not None, 'process_group("cuda") without CUDA', yours="no error", wanted="an error"
        )
        expect_equal(after, None, 'the group after process_group("cuda") without CUDA')


def join_alone(rank, world_size, answer):
    """Rank 0 waits to be joined; rank 1 does not come, but goes where nobody listens."""

    def work():
        with answer.process_group(timeout=SHORT):
            pass

    with socket.socket() as deaf:  # bound, so that the port is nobody else's
        deaf.bind(("127.0.0.1", 0))
        if rank == 1:
            os.environ["MASTER_PORT"] = str(deaf.getsockname()[1])
        return told(caught(work)), group()


def reduce_alone(rank, world_size, answer):
    """Rank 0 waits in an all_reduce, rank 1 for a message from rank 0."""

    def work():
        with answer.process_group("cpu", SHORT):
            if rank == 0:
                dist.all_reduce(torch.ones(2))
            else:
                dist.recv(torch.ones(2), 0)

    return told(caught(work)), group()


@pytest.mark.multi_process
@pytest.mark.parametrize("worker", [join_alone, reduce_alone], ids=["joining", "in a collective"])
def test_timeout(answer, worker):
    """After `timeout`, waiting for the others is an error: while joining, and in a collective."""
    try:
        found = run_ranks(2, worker, answer=answer, init=False, grace=3.0, timeout=6.0)
    except (
        CheckFailure
    ) as failure:  # once in some hundred times, gloo itself misses a time-out as short as this one
        if "not finished" in str(failure):
            raise
        found = run_ranks(2, worker, answer=answer, init=False, grace=3.0, timeout=6.0)
    where = "joining" if worker is join_alone else "in all_reduce"
    facts = {"yours": "no error", "wanted": "an error after 0.2 s"}
    for rank, (error, after) in enumerate(found if worker is join_alone else found[:1]):
        expect_that(error is not None, f"rank {rank} is left alone while {where}, timeout={SHORT}", **facts)
        expect_equal(after, None, f"the group on rank {rank} after it was left alone {where}")


def pretend_cuda(answer):
    """Have four CUDA devices without a kernel, and gloo for NCCL; the list tells how groups are joined."""
    current, joined = [3], []
    init = dist.init_process_group

    def exchange(number):
        before = current[0]
        current[0] = number if number >= 0 else before
        return before

    def record(backend=None, *arguments, device_id=None, **options):
        joined.append((str(backend), current[0]))
        return init("gloo", *arguments, **options)

    cuda = torch.cuda
    cuda.is_available = dist.is_nccl_available = lambda: True
    cuda.init = cuda._lazy_init = lambda: None
    cuda.device_count, cuda.current_device = lambda: 4, lambda: current[0]
    cuda._exchange_device = cuda._maybe_exchange_device = exchange
    torch._C._cuda_setDevice = torch._C._accelerator_setDeviceIndex = exchange
    for place in (dist, dist.distributed_c10d, answer):
        for name, value in list(vars(place).items()):
            if value is init:
                setattr(place, name, record)
    return joined


def on_pretended_cuda(rank, world_size, answer, number):
    os.environ["LOCAL_RANK"] = str(number)
    if not number:
        leave_torchrun()
    joined = pretend_cuda(answer)

    def work():
        with answer.process_group("cuda") as me:
            joined.append((str(me.device), torch.cuda.current_device()))

    error = told(caught(work))
    return joined, error, group()


@pytest.mark.multi_process
@pytest.mark.parametrize("number", [1, 0], ids=["second", "alone"])
def test_cuda(answer, number):
    """On "cuda" the group is one of NCCL, and the device is the current one before the process joins."""
    if torch.cuda.is_available():
        return  # the GPU tests do this with real ones
    ((joined, error, after),) = run_ranks(1, on_pretended_cuda, number, answer=answer, init=False)
    if not joined and error:
        return  # it asks CUDA for something that cannot be pretended
    where = 'in process_group("cuda") ' + ("with LOCAL_RANK=1" if number else "without torchrun")
    (backend, current), *block = joined or [("None", 0)]
    expect_that("nccl" in backend, f"the backend {where}", yours=backend, wanted="nccl")
    expect_equal(current, number, f"the number of the current CUDA device on joining {where}")
    if block or not error:  # between joining and the block, too, it may ask for more than is pretended
        expect_equal(block, [(f"cuda:{number}", number)], f"me.device and the current device {where}")
    expect_equal(after, None, f"the group after the block {where}")


def on_gpus(rank, world_size, answer):
    with answer.process_group("cuda") as me:
        current = torch.cuda.current_device()
        total = torch.tensor([rank + 1.0], device=me.device)
        dist.all_reduce(total)
        return me.device, current, group(), total.item()


def check_on_gpus(answer, world_size):
    for rank, (device, current, members, total) in enumerate(
        run_ranks(world_size, on_gpus, answer=answer, init=False, timeout=60.0)
    ):
        where = f"on rank {rank} of {world_size}"
        expect_equal(device, torch.device("cuda", rank), f"me.device {where}")
        expect_equal(current, rank, f"torch.cuda.current_device() {where}")
        expect_equal(members, (rank, world_size, "nccl"), f"the group inside {where}")
        expect_equal(total, world_size * (world_size + 1) / 2, f"a sum over NCCL {where}")


@pytest.mark.gpu
@pytest.mark.multi_process
def test_on_a_gpu(answer):
    """On a GPU the group talks over NCCL."""
    check_on_gpus(answer, 1)


@pytest.mark.multi_gpu
@pytest.mark.multi_process
def test_on_two_gpus(answer):
    """On two GPUs each process has one, which is its current device, and they talk over NCCL."""
    check_on_gpus(answer, 2)


def oracle(answer, gen):
    numbers = torch.randn(2, 6, generator=gen)
    found = [list(map(str, answer_of)) for answer_of in run_ranks(2, join, answer=answer, init=False)]
    sums, sent, members = zip(*run_ranks(2, shared, numbers, answer=answer, init=False), strict=True)
    return {
        "who two processes are, and the group that they are in": [found, members],
        "the sum of what two processes have": sums,
        "what the second of two processes sends to the first": sent,
    }


def shared(rank, world_size, answer, numbers):
    with answer.process_group() as me:
        total, sent = numbers[rank].clone(), numbers[rank] ** 2
        if dist.is_initialized():
            dist.all_reduce(total)
            dist.broadcast(sent, src=1)
        meet(rank, world_size)
    return total, sent, (me.rank, me.world_size)
