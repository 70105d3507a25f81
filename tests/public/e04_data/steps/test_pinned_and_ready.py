"""The suite of pinned_and_ready."""

import torch
from torch.utils.data import TensorDataset

from grader.checks.contract import Contract, given


def use(answer, dataset, batch_size, device):
    loader = answer.pinned_and_ready(TensorDataset(dataset), batch_size, device)
    return {
        "pin_memory": bool(loader.pin_memory),
        "batch_size": loader.batch_size,
        "rows": len(loader.dataset),
    }


def expected(dataset, batch_size, device):
    return {"pin_memory": device.type == "cuda", "batch_size": batch_size, "rows": len(dataset)}


def settings(gen, device):
    rows, batch_size = torch.randint(20, 500, (2,), generator=gen).tolist()
    return given(torch.zeros(rows), batch_size, torch.device(device))


contract = Contract(
    "pinned_and_ready(dataset, batch_size, device)",
    reference=expected,
    use=use,
    example=[
        (
            given(torch.zeros(64), 32, torch.device("cuda:1")),
            {"pin_memory": True, "batch_size": 32, "rows": 64},
        ),
        (
            given(torch.zeros(64), 32, torch.device("cpu")),
            {"pin_memory": False, "batch_size": 32, "rows": 64},
        ),
    ],
    inputs=lambda gen: {f"for {name}": settings(gen, name) for name in ("cuda", "cuda:0", "mps", "cpu")},
    suspects={
        "pin_memory is to be asked of the device: device.type": lambda dataset, batch_size, device: {
            **expected(dataset, batch_size, device),
            "pin_memory": device.type != "cuda",
        },
        "batch_size was not handed on to DataLoader": lambda dataset, batch_size, device: expected(
            dataset, 1, device
        ),
    },
)
