"""Join the process group that torchrun has prepared, and leave it whatever happens.

`torchrun --nproc-per-node=2 train.py`, run on each of two machines, starts the script four times, and tells
each process in its environment who it is: RANK is its number among all, WORLD_SIZE how many there are,
LOCAL_RANK its number on this machine; at MASTER_ADDR and MASTER_PORT they meet. Write the context manager in
which such a script does its work:

    # on the second machine, with RANK=3, WORLD_SIZE=4, LOCAL_RANK=1
    with process_group("cuda") as me:
        me  # Member(rank=3, local_rank=1, world_size=4, device=device(type='cuda', index=1))
        dist.all_reduce(...)  # over the four of them
    dist.is_initialized()  # False; the same if the block raises

    # `python train.py`, without torchrun, and with the default device_type
    with process_group() as me:
        me  # Member(rank=0, local_rank=0, world_size=1, device=device(type='cpu'))

Rules:
- Inside the block, the default process group is that of the five variables. For "cpu" its backend is gloo.
  For "cuda" it is nccl, and the current CUDA device is me.device, from before joining; where CUDA cannot be
  used, that is an error, not a change to the CPU.
- Without RANK in the environment the process is alone: a group of one, in which collectives work. It meets
  nobody, so any number of such processes may run on a machine at once.
- If RANK is set and one of the other four is not, a ValueError or KeyError names it.
- `timeout` is the group's: who waits longer than this for the others, to join or in a collective, gets an
  error. Whatever goes wrong while joining, there is no group afterwards.
- When the block ends, the group is gone, however the block ends: also by KeyboardInterrupt or sys.exit. What
  it raises comes out as it is. A rank whose block raises leaves at once; it waits for no other rank. (Those
  that wait for it then get an error, instead of waiting for ever.)
- If there is a default group already, that is an error (RuntimeError or ValueError), and that group stays.
- os.environ stays as it is. A process under torchrun enters the block once, one without any number of times.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

VARIABLES = ("WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class Member:
    """Who this process is, and which device it computes on."""

    rank: int
    local_rank: int
    world_size: int
    device: torch.device


def local_device(device_type: str) -> torch.device:
    """The device for this process: LOCAL_RANK picks it, as the processes of a machine share its devices.

    Args:
        device_type: "cpu", or a type of devices with numbers, such as "cuda". None need be there.

    Returns:
        `torch.device("cpu")`; of any other type, the device numbered LOCAL_RANK, or 0 where that is not set.
    """
    if device_type == "cpu":
        return torch.device("cpu")
    return torch.device(device_type, int(os.environ.get("LOCAL_RANK", "0")))


@contextmanager
def process_group(device_type: str = "cpu", timeout: timedelta = timedelta(minutes=10)) -> Iterator[Member]:
    """Be a member of the default process group for the length of a `with` block.

    Args:
        device_type: "cpu" or "cuda".
        timeout: how long this process waits for others before that is an error.

    Raises:
        ValueError, KeyError: RANK is set, another of the variables is not.
        RuntimeError, ValueError: there is a default group already.
    """
    if dist.is_initialized():
        raise RuntimeError("this process is a member of a group already")
    device = local_device(device_type)
    if device.type == "cuda":
        torch.cuda.set_device(device)  # NCCL takes the current device
    backend = "nccl" if device.type == "cuda" else "gloo"
    if "RANK" in os.environ:
        missing = [name for name in VARIABLES if name not in os.environ]
        if missing:
            raise ValueError(f"RANK is set, but not {', '.join(missing)}: start the script with torchrun")
        rank, world_size, local_rank = (int(os.environ[n]) for n in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
        dist.init_process_group(backend, timeout=timeout)
    else:
        rank, world_size, local_rank = 0, 1, 0
        # a meeting place in memory: neither a port nor a file that another process could use as well
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
    try:  # only now: what goes wrong above must not end a group of somebody else
        yield Member(rank, local_rank, world_size, device)
    finally:
        dist.destroy_process_group()
