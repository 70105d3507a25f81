"""Join the process group that torchrun has prepared, and leave it whatever happens.

`torchrun` starts a script several times, on one machine or more. The environment tells each process who it
is: RANK is its number among all, WORLD_SIZE how many there are, LOCAL_RANK its number on this machine.
Write the context manager in which it works.

    # with RANK=3, WORLD_SIZE=4, LOCAL_RANK=1
    with process_group("cuda") as me:
        me                 # Member(rank=3, local_rank=1, world_size=4, device=device(type='cuda', index=1))
        dist.all_reduce(x) # over the four of them
    dist.is_initialized()  # False; the same if the block raises

- `local_device` tells the device: LOCAL_RANK (0 without it) picks it; the CPU has no number.
- The backend is gloo for "cpu", nccl for "cuda".
- Without RANK the process is alone, in a group of one: Member(0, 0, 1, device).
- `timeout` is how long a collective waits.
- What the block raises comes out as it is; a rank that fails waits for no other.

Fine print:
- The group also goes when the block ends by KeyboardInterrupt or sys.exit.
- Processes that are alone meet nobody: any number may run on a machine at once, and each may enter again.
- os.environ stays as it is.
- If RANK is set and WORLD_SIZE, LOCAL_RANK, MASTER_ADDR or MASTER_PORT is not, a ValueError or KeyError names it.
- If there is a default group already, that is an error (RuntimeError or ValueError), and that group stays.
- For "cuda" me.device is the current CUDA device, from before joining. Where CUDA cannot be used, that is an
  error, not a change to the CPU.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Member:
    """Who this process is, and which device it computes on."""

    rank: int
    local_rank: int
    world_size: int
    device: torch.device


def local_device(device_type: str) -> torch.device:
    """The device for this process: "cpu", or of another type the one numbered LOCAL_RANK (0 without it)."""
    raise NotImplementedError


@contextmanager
def process_group(device_type: str = "cpu", timeout: timedelta = timedelta(minutes=10)) -> Iterator[Member]:
    """Be a member of the default process group for the length of a `with` block."""
    raise NotImplementedError
