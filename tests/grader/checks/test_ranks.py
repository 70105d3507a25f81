"""Ranks: results, hangs told apart from work, and nothing left behind."""

# Answers and jobs are written the way a learner would write them.
# ruff: noqa: PTH109, PTH123

import contextlib
import importlib.util
import os
import select
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import distributed
from grader.checks.cost.everywhere import in_one_thread
from grader.checks.distributed import RankFailure, count_collectives, run_ranks
from grader.checks.distributed.launcher import Launcher
from grader.checks.distributed.places import Frame
from grader.checks.distributed.process import RankEnding
from grader.checks.distributed.report import RankTodo, failure_of
from grader.checks.failure import CheckFailure
from tests.grader.support.warm_worker import WarmWorker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.multi_process,
    pytest.mark.skipif(distributed.is_available() is not None, reason=str(distributed.is_available())),
]

NEVER = 60.0
"""A time-out that no test waits for: what ends before it was recognised, not timed out."""


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Writes an answer and loads it, as the plugin would."""
    name = "answer"
    path = list(sys.path)

    def load(source: str) -> ModuleType:
        file = tmp_path / f"{name}.py"
        file.write_text(
            "import os\nimport torch\nimport torch.distributed as dist\n" + textwrap.dedent(source)
        )
        os.utime(file, (1, 1))  # a compiled file of an earlier version may seem to fit
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    yield load
    sys.path[:] = path
    sys.modules.pop(name, None)


def step(rank: int, world_size: int, answer: Any, *args: Any) -> Any:
    return answer.step(rank, *args)


def failure(world_size: int, answer: ModuleType, **options: Any) -> str:
    with pytest.raises(RankFailure) as caught:
        run_ranks(world_size, step, answer=answer, **{"timeout": NEVER, "grace": 0.5, **options})
    text = str(caught.value)
    assert len(text.splitlines()) <= 10
    return text


def test_results_come_in_rank_order(write):
    answer = write("""
        def step(rank, x):
            mine = x * (rank + 1)
            dist.all_reduce(mine)
            return rank, mine
    """)
    found = run_ranks(3, step, torch.tensor([1.0, 2.0]), answer=answer)
    assert [rank for rank, _ in found] == [0, 1, 2]
    assert all(total.tolist() == [6.0, 12.0] for _, total in found)


def test_results_that_are_still_on_their_way(write):
    answer = write("""
        import torch.distributed._functional_collectives as functional

        def step(rank):
            total = functional.all_reduce(torch.full((3,), rank + 1.0), "sum", dist.group.WORLD)
            return [total, {"detached": total.detach()}]
    """)
    for total, more in run_ranks(2, step, answer=answer):
        assert type(total) is torch.Tensor
        assert total.tolist() == more["detached"].tolist() == [3.0, 3.0, 3.0]


def train(rank: int, world_size: int, answer: Any, rows: torch.Tensor) -> torch.Tensor:
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in rows:
        model(batch[rank::world_size]).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.module.weight.detach()


def test_data_parallel_training_equals_one_process(write):
    answer = write("")
    rows = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(1))
    alone, *_ = run_ranks(1, train, rows, answer=answer, seed=5)
    first, second = run_ranks(2, train, rows, answer=answer, seed=5)
    assert torch.equal(first, second)
    torch.testing.assert_close(first, alone)
    other, *_ = run_ranks(2, train, rows, answer=answer, seed=6)
    assert not torch.equal(first, other)


def test_answer_is_loaded_afresh(write, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number in (1, 2):
        answer = write(f"def step(rank): return {number}")
        assert run_ranks(1, step, answer=answer, init=False) == [number]


def test_what_an_answer_sets_where_it_is_imported_is_settled(write):
    answer = write(
        """
        if "RANK" in os.environ:
            torch.set_default_dtype(torch.float64)
            torch.set_num_threads(2)

        def step(rank):
            return str(torch.ones(1).dtype), torch.get_num_threads()
        """
    )
    assert run_ranks(1, step, answer=answer, init=False) == [("torch.float32", 1)]


def test_ranks_that_join_by_themselves_as_under_torchrun(write):
    answer = write("""
        def step(rank):
            before = dist.is_initialized()
            dist.init_process_group("gloo")
            try:
                total = torch.tensor(int(os.environ["LOCAL_RANK"]) + 1)
                dist.all_reduce(total)
                return before, dist.get_rank(), dist.get_world_size(), total.item()
            finally:
                dist.destroy_process_group()
    """)
    assert run_ranks(2, step, answer=answer, init=False) == [(False, 0, 2, 3), (False, 1, 2, 3)]


def test_ranks_that_have_been_joined_do_not_find_the_environment_of_torchrun(write, monkeypatch):
    monkeypatch.setenv("RANK", "7")
    answer = write("""
        def step(rank):
            return sorted({"RANK", "LOCAL_RANK", "WORLD_SIZE"} & {*os.environ}), dist.get_rank()
    """)
    assert run_ranks(2, step, answer=answer) == [([], 0), ([], 1)]


def test_gradients_that_an_answer_leaves_switched_off(write):
    answer = write("""
        def step(rank):
            torch.set_grad_enabled(rank != 1)
    """)
    with pytest.raises(RankFailure, match="gradients are switched off"):
        run_ranks(2, step, answer=answer)


def test_a_long_error_is_told_to_its_end(write):
    answer = write("""
        def step(rank):
            raise ValueError("word " * 40 + "[7, 9]")
    """)
    assert "word [7, 9]\n" in failure(1, answer)


def test_error_in_one_rank(write):
    answer = write("""
        def step(rank):
            if rank == 1:
                raise ValueError("no shard")
            dist.all_reduce(torch.ones(2))
    """)
    head, where, others = failure(2, answer, grace=NEVER).splitlines()
    assert head == "rank 1 raised ValueError: no shard"
    assert where.endswith('answer.py:7   raise ValueError("no shard")')
    assert others == "  rank 0 waits in all_reduce at line 8"


def test_error_in_every_rank(write):
    answer = write("def step(rank): return {}['loss']")
    assert failure(3, answer).startswith("ranks 0, 1 and 2 raised KeyError: 'loss'\n")


def test_an_idiom_in_a_rank_is_told(write):
    answer = write("""
        def step(rank):
            total = dist.all_reduce(torch.ones(2))
            return total / 2
    """)
    assert "likely  `dist.all_reduce` changes its tensor in place, and returns nothing" in failure(1, answer)


def check_values(rank: int, world_size: int, answer: Any) -> None:
    if rank == 1:
        raise CheckFailure("wrong value", yours="3", wanted="4")
    dist.barrier()


def test_failed_check_in_a_rank_keeps_its_text(write):
    with pytest.raises(RankFailure) as caught:
        run_ranks(2, check_values, answer=write(""))
    assert str(caught.value) == "rank 1: wrong value\n  yours   3\n  wanted  4"


def one_thread(rank: int, world_size: int, answer: Any) -> None:
    for _ in range(20):
        with in_one_thread():
            answer.step(rank)


def test_what_a_process_group_delivers_is_nobodys_thread(write):
    body = """
        def deliver():
            parts = [torch.empty(1000) for _ in range(2)]
            dist.all_gather(parts, torch.ones(1000))

        def step(rank):
            deliver()
    """
    in_a_thread = """
            import threading
            thread = threading.Thread(target=lambda: torch.sigmoid(torch.ones(9)))
            thread.start()
            thread.join()
    """
    run_ranks(2, one_thread, answer=write(body))
    with pytest.raises(RankFailure, match="in another thread"):
        run_ranks(2, one_thread, answer=write(body.rstrip() + in_a_thread))


DIVERGING = """
    def step(rank):
        x = torch.ones(2)
        dist.all_reduce(x)
        if rank == 1:
            dist.all_reduce(x)
"""


def test_rank_that_waits_for_one_that_has_left(write):
    head, where, likely = failure(2, write(DIVERGING)).splitlines()
    assert head == "rank 1 waits in all_reduce; rank 0 has left"
    assert where.endswith("answer.py:9   dist.all_reduce(x)")
    assert likely.startswith("  likely")
    assert failure(3, write(DIVERGING)).startswith("rank 1 waits in all_reduce; ranks 0 and 2 have left\n")


@pytest.mark.parametrize(
    ("zero", "one", "told"),
    [
        ("dist.barrier()", "dist.broadcast(x, 0)", "rank 0 waits in barrier; rank 1 waits in broadcast"),
        ("dist.recv(x, 1)", "dist.recv(x, 0)", "ranks 0 and 1 wait in recv"),
        (
            "dist.irecv(x, 1).wait()",
            "None",
            "rank 0 waits at `dist.irecv(x, 1).wait() if rank == 0 else None`; rank 1 has left",
        ),
        ("dist.new_group([0, 1])", "None", "rank 0 waits in new_group; rank 1 has left"),
    ],
)
def test_ranks_that_wait_for_each_other(write, zero, one, told):
    answer = write(f"""
        def step(rank):
            x = torch.ones(2)
            {zero} if rank == 0 else {one}
    """)
    assert failure(2, answer).splitlines()[0] == told


def stopped(wait: str, line: int) -> RankEnding:
    """A rank that was ended in `wait`, which a line of the answer called, or one of the check's."""
    library = Frame(f"{Path(torch.__file__).parent}/distributed/distributed_c10d.py", 1, wait)
    return RankEnding("stopped", frames=(*([Frame("answer.py", line, "step")] if line else []), library))


@pytest.mark.parametrize(
    ("endings", "likely"),
    [
        ((stopped("all_reduce", 7), stopped("barrier", 9)), "not every rank makes the same calls"),
        ((stopped("recv", 7), stopped("recv", 7)), "nobody has sent"),
        ((stopped("send", 7), stopped("send", 7)), "nobody receives, as all send first"),
        ((stopped("broadcast", 7), stopped("broadcast", 7)), "nobody gets what it waits for: is src"),
        # all of them at one call: too long a timeout, say, but not other calls
        ((stopped("barrier", 7), stopped("barrier", 7)), ""),
        ((stopped("recv", 0), stopped("all_reduce", 7)), "not every rank is in your code: rank 0 no longer"),
        ((RankEnding("left"), stopped("all_reduce", 7)), "not every rank makes the same calls"),
    ],
)
def test_likely_cause_of_a_wait(endings, likely):
    told = [line for line in str(failure_of(endings, "answer.py", 9.0)).splitlines() if "likely" in line]
    assert [line.startswith(f"  likely  {likely}") for line in told] == [True] * bool(likely)


def test_who_waits_for_ranks_that_are_elsewhere():
    told = str(failure_of([stopped("recv", 0), *[stopped("barrier", 7)] * 2], "answer.py", 9.0)).splitlines()
    assert told[-2].endswith("rank 0 no longer, or not yet; ranks 1 and 2 wait there for all")
    assert told[-1].lstrip().startswith("some ranks wait too early or too often")


@pytest.mark.parametrize(("steps", "told"), [(1, "DDP forward"), (2, "backward")])
def test_data_parallel_step_that_waits(write, steps, told):
    answer = write(f"""
        def step(rank):
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
            for _ in range({steps} + rank):
                model(torch.ones(2, 3)).sum().backward()
    """)
    assert failure(2, answer).startswith(f"rank 1 waits in {told}; rank 0 has left\n")


def test_slow_rank_is_no_hang(write):
    answer = write("""
        import time

        def step(rank):
            if rank == 0:
                time.sleep(0.6)
            dist.barrier()
            return rank
    """)
    assert run_ranks(2, step, answer=answer, grace=0.2) == [0, 1]


def test_time_is_up(write):
    answer = write("""
        def step(rank):
            while rank == 0:
                pass
            dist.barrier()
    """)
    head, *where = failure(2, answer, timeout=1.0).splitlines()
    assert head == "not finished after 1 s: rank 0 is still running; rank 1 waits in barrier"
    assert "answer.py:6   while rank == 0:" in where[0] or "answer.py:7   pass" in where[0]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("os._exit(3)", "rank 0 died with exit status 3"),
        ("__import__('ctypes').string_at(0)", "rank 0 died with signal 11 (SIGSEGV)"),
        ("exit(4)", "rank 0 raised SystemExit: 4"),
    ],
)
def test_rank_that_ends(write, how, told):
    answer = write(f"""
        def step(rank):
            if rank == 0:
                {how}
            dist.all_reduce(torch.ones(2))
    """)
    head, *others = failure(2, answer, grace=NEVER).splitlines()
    assert head == told
    other = " ".join(" ".join(others).partition("rank 1")[2].split())  # what a rank raised may be wrapped
    assert other.endswith("at line 8")


def test_unequal_messages(write):
    answer = write("""
        def step(rank):
            if rank == 0:
                dist.recv(torch.ones(3), 1)
            else:
                dist.send(torch.ones(9), 0)
                dist.barrier()
    """)
    head, *_, last = failure(2, answer, grace=NEVER).splitlines()
    assert head == "rank 0 died with signal 6 (SIGABRT)"
    assert "ranks differ in calls, shapes or dtypes" in last


def test_stub_is_a_todo(write):
    with pytest.raises(RankTodo):
        run_ranks(2, step, answer=write("def step(rank):\n    raise NotImplementedError"), timeout=NEVER)
    library = "def step(rank): return torch.nn.Module()(rank)"  # raises NotImplementedError in torch
    assert failure(2, write(library)).startswith("ranks 0 and 1 raised NotImplementedError")


def test_result_that_cannot_travel(write):
    said = failure(1, write("def step(rank): return lambda: rank"))
    assert "what rank 0 returns cannot be pickled" in said and "step.<locals>.<lambda>" in said


def test_output_is_shown_with_its_rank(write, capsys):
    run_ranks(2, step, answer=write("def step(rank): print('x' * 9000, 3 + rank)"))
    first, second = capsys.readouterr().out.splitlines()
    assert (first[:10], first[-3:]) == ("[rank 0] x", "x 3")
    assert (second[:10], second[-3:]) == ("[rank 1] x", "x 4")
    assert len(first) < 5000


def count(rank: int, world_size: int, answer: Any) -> Any:
    x = torch.ones(6)
    with count_collectives() as seen:
        dist.all_reduce(x)
        dist.all_reduce(x, async_op=True).wait()
        dist.all_gather([torch.zeros(6)] * 2, x)
        dist.reduce_scatter(torch.zeros(3), [torch.ones(3), torch.ones(3)])
        peer = 1 - rank
        for request in dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, x[:2], peer), dist.P2POp(dist.irecv, torch.zeros(2), peer)]
        ):
            request.wait()
        dist.barrier()
    dist.all_reduce(x)
    return seen


def test_counted_collectives(write):
    for seen in run_ranks(2, count, answer=write("")):
        wanted = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "send": 1, "recv": 1, "barrier": 1}
        assert seen.count == wanted
        sizes = {"all_reduce": 48, "all_gather": 24, "reduce_scatter": 24, "send": 8, "recv": 8, "barrier": 0}
        assert seen.bytes == sizes


def pass_on(rank: int, world_size: int, answer: Any) -> Any:
    with count_collectives() as seen:
        sending = dist.isend(torch.ones(2), (rank + 1) % world_size)
        dist.recv(torch.zeros(2), (rank - 1) % world_size)
        sending.wait()
        dist.broadcast(torch.ones(2), 1)
    return [(call.kind, call.peer) for call in seen.calls]


def test_peers_of_messages(write):
    for rank, calls in enumerate(run_ranks(3, pass_on, answer=write(""))):
        assert calls == [("send", (rank + 1) % 3), ("recv", (rank - 1) % 3), ("broadcast", None)]


def count_backward(rank: int, world_size: int, answer: Any, bucket_mb: float) -> Any:
    model = DistributedDataParallel(nn.Linear(256, 512, bias=False), bucket_cap_mb=bucket_mb)
    with count_collectives() as quiet, model.no_sync():
        model(torch.ones(2, 256)).sum().backward()
    with count_collectives() as seen:
        model(torch.ones(2, 256)).sum().backward()
    return quiet.count, seen.count, seen.bytes


def test_counted_collectives_of_the_reducer(write):
    for quiet, seen, sizes in run_ranks(2, count_backward, 25, answer=write("")):
        assert quiet == {}
        assert seen == {"all_reduce": 1}
        assert sizes == {"all_reduce": 512 * 256 * 4}


def whereabouts(rank: int, world_size: int, answer: Any) -> tuple[int, str]:
    return os.getpid(), str(Path(sys.stdout.name).parent)


def is_gone(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True


def open_files(pid: int | str = "self") -> int:
    folder = Path(f"/proc/{pid}/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_runs_leave_nothing_behind(write):
    answer = write("")
    run_ranks(2, whereabouts, answer=answer)
    launcher = distributed._of_this_process()
    before = open_files() + open_files(launcher.pid)
    seen = [place for _ in range(20) for place in run_ranks(2, whereabouts, answer=answer)]
    assert distributed._of_this_process() is launcher
    assert all(is_gone(pid) and not Path(folder).exists() for pid, folder in seen)
    until(lambda: open_files() + open_files(launcher.pid) <= before)


def until(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came true")


SPINNING = """
    def step(rank, folder):
        with open(f"{folder}/part{rank}", "w") as file:
            file.write(str(os.getpid()))
        os.rename(f"{folder}/part{rank}", f"{folder}/pid{rank}")
        while True:
            pass
"""


def test_run_that_is_interrupted(write, tmp_path):
    answer = write(SPINNING)

    class Interrupted(BaseException):
        pass

    def interrupt(*_: Any) -> None:
        raise Interrupted

    def wait_and_signal() -> None:
        until(lambda: all((tmp_path / f"pid{rank}").exists() for rank in range(2)))
        os.kill(os.getpid(), signal.SIGUSR2)

    before = signal.signal(signal.SIGUSR2, interrupt)
    launcher = distributed._of_this_process()
    thread = threading.Thread(target=wait_and_signal)
    thread.start()
    try:
        with pytest.raises(Interrupted):
            run_ranks(2, step, str(tmp_path), answer=answer, timeout=NEVER)
    finally:
        thread.join()
        signal.signal(signal.SIGUSR2, before)
    until(lambda: all(is_gone(int((tmp_path / f"pid{rank}").read_text())) for rank in range(2)))
    assert len(run_ranks(2, whereabouts, answer=answer)) == 2
    assert distributed._of_this_process() is launcher


def test_ranks_die_with_the_process_that_asked_for_them(write, tmp_path):
    answer = write(SPINNING)
    files = [tmp_path / f"pid{rank}" for rank in range(2)]
    asking = os.fork()
    if asking == 0:
        try:
            run_ranks(2, step, str(tmp_path), answer=answer, timeout=NEVER)
        finally:
            os._exit(0)
    until(lambda: all(file.exists() for file in files))
    os.kill(asking, signal.SIGKILL)
    os.waitpid(asking, 0)
    until(lambda: all(is_gone(int(file.read_text())) for file in files))


def test_launcher_holds_no_descriptor_of_its_parent():
    reader, writer = os.pipe()
    launcher = Launcher()
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], 60)
    os.close(reader)
    launcher.close()
    assert ready, "the launcher keeps a pipe open"
    assert is_gone(launcher.pid)


def test_launcher_that_was_killed_is_replaced(write, monkeypatch):
    # Not the one that was forked before any backward: later tests need it.
    monkeypatch.setattr(distributed, "_launcher", Launcher())
    answer = write("""
        import shutil, sys

        def step(rank):
            shutil.rmtree(os.path.dirname(sys.stdout.name))  # the launcher can no longer do it
            os.kill(os.getppid(), 9)
    """)
    with pytest.raises(RankFailure, match="out of memory"):
        run_ranks(1, step, answer=answer, init=False)
    assert len(run_ranks(2, whereabouts, answer=answer)) == 2
    distributed._of_this_process().close()


def two_ranks():
    import os
    import sys

    with open("answer.py", "w") as file:
        file.write(
            "import torch, torch.distributed as dist\n"
            "def step(rank):\n"
            "    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))\n"
            "    for _ in range(2): model(torch.ones(2, 3)).sum().backward()\n"
            "    if rank == 1: dist.all_reduce(torch.ones(1))\n"
        )
    with open("suite.py", "w") as file:
        file.write(
            "import torch, torch.distributed as dist\n"
            "def fine(rank, world_size, answer):\n"
            "    total = torch.tensor(rank + 1)\n"
            "    dist.all_reduce(total)\n"
            "    return total.item()\n"
            "def hang(rank, world_size, answer):\n"
            "    answer.step(rank)\n"
        )
    from grader.checks.distributed import RankFailure, prepare, run_ranks

    prepare()
    sys.path.append(os.getcwd())
    import answer
    import suite

    totals = run_ranks(4, suite.fine, answer=answer, timeout=60)
    try:
        run_ranks(2, suite.hang, answer=answer, timeout=60)
    except RankFailure as error:
        return totals, str(error).splitlines()[0]


def test_inside_the_sandbox(confines):
    warm = WarmWorker(imports=["torch", "torch._dynamo", "torch.distributed", "grader.checks.distributed"])
    try:
        result = warm.run(two_ranks)
    finally:
        warm.close()
    assert result.error == ""
    assert result.value == [[10, 10, 10, 10], "rank 1 waits in all_reduce; rank 0 has left"]
