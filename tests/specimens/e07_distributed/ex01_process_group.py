"""Answers to process_group that people write."""

from grader.authoring.specimen import Right, Wrong

BY_LOCAL_RANK = 'torch.device(device_type, int(os.environ.get("LOCAL_RANK", "0")))'
TWICE = """    if dist.is_initialized():
        raise RuntimeError("this process is a member of a group already")
"""
BACKEND = '    backend = "nccl" if device.type == "cuda" else "gloo"\n'
MISSING = """        missing = [name for name in VARIABLES if name not in os.environ]
        if missing:
            raise ValueError(f"RANK is set, but not {', '.join(missing)}: start the script with torchrun")
"""
JOIN = "        dist.init_process_group(backend, timeout=timeout)\n"
ALONE = "        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)\n"
BLOCK = """    try:  # only now: what goes wrong above must not end a group of somebody else
        yield Member(rank, local_rank, world_size, device)
    finally:
        dist.destroy_process_group()
"""
BODY_START = '    if "RANK" in os.environ:\n'


def alone(line):
    return [(ALONE, line)]


SPECIMENS = [
    Wrong(
        "never leaves where the block raises",
        edits=[
            (
                BLOCK,
                "    yield Member(rank, local_rank, world_size, device)\n    dist.destroy_process_group()\n",
            )
        ],
        check="test_a_rank_that_fails",
        says="in all_reduce",
    ),
    Wrong(
        "leaves on the errors that it expects",
        edits=[
            (
                BLOCK,
                """    try:
        yield Member(rank, local_rank, world_size, device)
    except Exception:
        dist.destroy_process_group()
        raise
    else:
        dist.destroy_process_group()
""",
            )
        ],
        check="test_however_the_block_ends",
        says="a block that raises KeyboardInterrupt",
    ),
    Wrong(
        "swallows the error to clean up in peace",
        edits=[
            (
                "    finally:\n",
                '    except Exception as error:\n        print(f"failed: {error}")\n    finally:\n',
            )
        ],
        check="test_however_the_block_ends",
        says="a Lost in the block does not come out",
    ),
    Wrong(
        "never leaves",
        edits=[("    finally:\n        dist.destroy_process_group()\n", "    finally:\n        pass\n")],
        check="test_members",
        says="group after the block",
    ),
    Wrong(
        "waits for all before it leaves",
        edits=[("    finally:\n", "    finally:\n        dist.barrier()\n")],
        check="test_a_rank_that_fails",
    ),
    Wrong(
        "waits for all, unless it is an Exception that ends the block",
        edits=[
            (
                BLOCK,
                """    failed = False
    try:
        yield Member(rank, local_rank, world_size, device)
    except Exception:
        failed = True
        raise
    finally:
        if not failed:
            dist.barrier()
        dist.destroy_process_group()
""",
            )
        ],
        check="test_a_rank_that_fails",
        says="in all_reduce",
    ),
    Wrong(
        "the device by the rank",
        edits=[('os.environ.get("LOCAL_RANK", "0")', 'os.environ.get("RANK", "0")')],
        check="test_local_device",
        says='local_device("cuda")',
    ),
    Wrong(
        "the device without its number",
        edits=[(BY_LOCAL_RANK, "torch.device(device_type)")],
        check="test_local_device",
    ),
    Wrong(
        "asks torch whether there is such a device",
        edits=[('if device_type == "cpu":', 'if device_type == "cpu" or not torch.cuda.is_available():')],
        check="test_local_device",
    ),
    Wrong(
        "the rank among all for the one on this machine",
        edits=[("yield Member(rank, local_rank, world", "yield Member(rank, rank, world")],
        check="test_members",
        says="RANK=2, LOCAL_RANK=0",
    ),
    Wrong(
        "always a group of torchrun's",
        edits=[(BODY_START, '    os.environ.setdefault("RANK", "0")\n' + BODY_START)],
        check="test_alone",
    ),
    Wrong(
        "fills the environment in for a process that is alone",
        edits=[
            (
                ALONE,
                """        here = dict(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
        os.environ.update(here)
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
""",
            )
        ],
        check="test_alone",
        says="os.environ has changed",
    ),
    Wrong(
        "meets itself at the port of the tutorials",
        edits=alone(
            '        dist.init_process_group(backend, init_method="tcp://127.0.0.1:29500", rank=0, world_size=1)\n'
        ),
        check="test_alone",
        says="rank 1 raised",
    ),
    Wrong(
        "no group for a process that is alone",
        edits=[
            (ALONE, "        yield Member(0, 0, 1, device)\n        return\n"),
        ],
        check="test_alone",
    ),
    Wrong(
        "ends the group that it finds",
        edits=[(TWICE, "    if dist.is_initialized():\n        dist.destroy_process_group()\n")],
        check="test_misuse",
        says="a block inside of a block",
    ),
    Wrong(
        "takes the group that it finds for its own",
        edits=[
            (TWICE, ""),
            (BODY_START, BODY_START.replace('"RANK"', 'not dist.is_initialized() and "RANK"')),
            (
                "    else:\n",
                "    elif dist.is_initialized():\n        rank, world_size, local_rank = 0, 1, 0\n    else:\n",
            ),
        ],
        check="test_misuse",
        says="a block inside of a block",
    ),
    Wrong(
        "joins inside of try, and ends the outer group where that raises",
        code="""
import os
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Member:
    rank: int
    local_rank: int
    world_size: int
    device: torch.device


def local_device(device_type):
    return torch.device("cpu") if device_type == "cpu" else torch.device(device_type, int(os.environ.get("LOCAL_RANK", 0)))


@contextmanager
def process_group(device_type="cpu", timeout=timedelta(minutes=10)):
    try:
        device = local_device(device_type)
        if device_type != "cpu":
            torch.cuda.set_device(device)
        backend = "gloo" if device_type == "cpu" else "nccl"
        if "RANK" in os.environ:
            local_rank = int(os.environ["LOCAL_RANK"])
            dist.init_process_group(backend, timeout=timeout)
        else:
            local_rank = 0
            dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
        yield Member(dist.get_rank(), local_rank, dist.get_world_size(), device)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
""",
        check="test_misuse",
        says="outer group",
    ),
    Wrong(
        "what is not told is taken for granted",
        edits=[
            (MISSING, ""),
            ("(int(os.environ[n]) for n in", '(int(os.environ.get(n, "0")) for n in'),
        ],
        check="test_misuse",
        says="LOCAL_RANK is missing, RANK is set",
    ),
    Wrong(
        "does without torchrun as soon as anything is missing",
        edits=[
            (MISSING, ""),
            (BODY_START, '    if all(name in os.environ for name in ("RANK", *VARIABLES)):\n'),
        ],
        check="test_misuse",
        says="is missing, RANK is set",
    ),
    Wrong(
        "gloo and the CPU where there is no CUDA",
        edits=[
            (
                "        torch.cuda.set_device(device)",
                "        torch.cuda.is_available() and torch.cuda.set_device(device)",
            ),
            (
                BACKEND,
                '    backend = "nccl" if device.type == "cuda" and torch.cuda.is_available() else "gloo"\n',
            ),
        ],
        check="test_misuse",
        says='process_group("cuda") without CUDA',
    ),
    Wrong(
        "its own time-out",
        edits=[(JOIN, "        dist.init_process_group(backend)\n")],
        check="test_timeout",
        says="waits in",
    ),
    Wrong(
        "a short time-out for joining only",
        edits=[
            (
                JOIN,
                """        store, *_ = next(dist.rendezvous("env://", timeout=timeout))
        store.set_timeout(timeout)
        store.add("here", 1)
        store.set(f"here{rank}", "")
        store.wait([f"here{other}" for other in range(world_size)])
        dist.init_process_group(backend)
""",
            )
        ],
        check="test_timeout",
        says="waits in all_reduce",
    ),
    Wrong(
        "alone, but at the address that is in the environment",
        edits=alone(
            """        port = os.environ.get("MASTER_PORT", 0)
        where = f"tcp://127.0.0.1:{port}"
        dist.init_process_group(backend, init_method=where, rank=0, world_size=1, timeout=timeout)
"""
        ),
        check="test_alone",
    ),
    Wrong(
        "another error for the errors of training",
        edits=[
            (
                "    finally:\n",
                "    except ValueError as error:\n        raise RuntimeError('failed') from error\n    finally:\n",
            )
        ],
        check="test_however_the_block_ends",
        says="a ValueError in the block does not come out",
    ),
    Wrong(
        "the current device once it has joined",
        edits=[
            ("        torch.cuda.set_device(device)", "        pass"),
            (BLOCK, '    if device.type == "cuda":\n        torch.cuda.set_device(device)\n' + BLOCK),
        ],
        check="test_cuda",
        says="on joining",
    ),
    Wrong(
        "gloo for CUDA as well",
        edits=[(BACKEND, '    backend = "gloo"\n')],
        check="test_cuda",
        says="nccl",
    ),
    Wrong(
        "plays torchrun for the length of the block",
        edits=[
            (
                ALONE,
                """        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
""",
            ),
            (
                "        dist.destroy_process_group()\n",
                """        dist.destroy_process_group()
        if isinstance(where, dict):
            os.environ.clear()
            os.environ.update(where)
""",
            ),
            (BODY_START, '    where = None if "RANK" in os.environ else dict(os.environ)\n' + BODY_START),
        ],
        check="test_alone",
        says="os.environ has changed",
    ),
    Wrong(
        "meets at a store that waits for five minutes",
        edits=[
            (
                JOIN,
                """        store = dist.TCPStore(
            os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), world_size, is_master=rank == 0
        )
        dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=timeout)
""",
            )
        ],
        check="test_timeout",
        says="rank 1 is still running",
    ),
    Wrong(
        "half an hour, as for torch itself",
        edits=[("timeout: timedelta = timedelta(minutes=10)", "timeout: timedelta = timedelta(minutes=30)")],
        check="test_members",
        says="timeout",
    ),
    Right(
        "a class, an error of its own, a TCP store at any free port, ranks from the group",
        code="""
import os
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

VARIABLES = ("WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


class NotSet(KeyError):
    pass


@dataclass(frozen=True)
class Member:
    rank: int
    local_rank: int
    world_size: int
    device: torch.device


def local_device(device_type):
    number = os.getenv("LOCAL_RANK") or 0
    return torch.device("cpu" if device_type == "cpu" else f"{device_type}:{number}")


class process_group:
    def __init__(self, device_type="cpu", timeout=timedelta(minutes=10)):
        self.kind, self.timeout = device_type, timeout

    def __enter__(self):
        options = {"backend": {"cpu": "gloo", "cuda": "nccl"}[self.kind], "timeout": self.timeout}
        device = local_device(self.kind)
        if device.type != "cpu":
            torch.cuda.set_device(device)
            options["device_id"] = device
        if os.environ.get("RANK") is None:
            here = 0
            options |= {"store": dist.TCPStore("localhost", 0, 1, True), "rank": 0, "world_size": 1}
        else:
            missing = [name for name in VARIABLES if name not in os.environ]
            if missing:
                raise NotSet(f"not set: {missing}")
            here = int(os.environ["LOCAL_RANK"])
            options |= {"init_method": "env://"}
        dist.init_process_group(**options)
        return Member(dist.get_rank(), here, dist.get_world_size(), device)

    def __exit__(self, kind, error, trace):
        dist.destroy_process_group()
        return False
""",
    ),
    Wrong(
        "who is alone waits for nobody, and needs no timeout",
        edits=[("rank=0, world_size=1, timeout=timeout)", "rank=0, world_size=1)")],
        check="test_alone",
        says="timeout of the group in process_group()",
    ),
    Right(
        "a file of its own, an ExitStack",
        edits=[
            ("import os\n", "import os\nimport tempfile\n"),
            ("from contextlib import contextmanager", "from contextlib import ExitStack, contextmanager"),
            (
                ALONE,
                """        with tempfile.TemporaryDirectory() as folder:
            dist.init_process_group(
                backend, init_method=f"file://{folder}/store", rank=0, world_size=1, timeout=timeout
            )
""",
            ),
            (
                BLOCK,
                """    with ExitStack() as stack:
        stack.callback(dist.destroy_process_group)
        yield Member(rank=rank, local_rank=local_rank, world_size=world_size, device=device)
""",
            ),
        ],
    ),
    Wrong(
        "a process alone computes on the CPU, whatever it is told",
        edits=[
            (BACKEND, ""),
            (
                JOIN,
                '        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=timeout)\n',
            ),
            (ALONE, '        device = torch.device("cpu")\n' + ALONE.replace("(backend,", '("gloo",')),
        ],
        check="test_cuda",
        says="without torchrun",
    ),
    Wrong(
        "leaves the current device alone where it is the only process",
        edits=[
            ('    if device.type == "cuda":\n', '    if device.type == "cuda" and "RANK" in os.environ:\n'),
        ],
        check="test_cuda",
        says="without torchrun",
    ),
]
