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
    rank: int
    local_rank: int
    world_size: int
    device: torch.device


def local_device(device_type: str) -> torch.device:
    if device_type == "cpu":
        return torch.device("cpu")
    return torch.device(device_type, int(os.environ.get("LOCAL_RANK", "0")))


@contextmanager
def process_group(device_type: str = "cpu", timeout: timedelta = timedelta(minutes=10)) -> Iterator[Member]:
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
