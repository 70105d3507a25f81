"""Train, release and ask: `python -m does_not_ship.ship`."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .model import Net
from .pack import release
from .pixels import SIZE
from .serve import load

LABELS = ["plum", "lemon", "apple", "kiwi"]
COLOURS = torch.tensor([[0.45, 0.2, 0.6], [0.8, 0.75, 0.2], [0.75, 0.2, 0.2], [0.4, 0.6, 0.25]])


def make(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Fruit on a table, (count, 3, SIZE, SIZE) from 0 to 1, and the numbers of their labels."""
    stream = torch.Generator().manual_seed(seed)
    y = torch.randint(len(LABELS), (count,), generator=stream)
    light = 0.2 * torch.randn(count, 3, 1, 1, generator=stream)
    x = torch.full((count, 3, SIZE, SIZE), 0.7)
    x[:, :, 3:9, 3:9] = COLOURS[y].view(count, 3, 1, 1)
    x = x + light + 0.15 * torch.randn(x.shape, generator=stream)
    return x.clamp(0, 1), y


def photo(x: Tensor) -> list[Any]:
    """The picture as the camera sends it: twice as large, dark on both sides, lists of 0 to 255."""
    large = x.repeat_interleave(2, dim=1).repeat_interleave(2, dim=2)
    return (255 * F.pad(large, (8, 8))).permute(1, 2, 0).tolist()  # height × width × 3


def fit(seed: int = 0, epochs: int = 12) -> dict[str, Any]:
    """Train, and return the checkpoint."""
    x, y = make(400, seed=1)
    mean, std = x.mean((0, 2, 3)), x.std((0, 2, 3))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = Net(len(LABELS))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(40):
                logits = net((x[rows] - mean.view(3, 1, 1)) / std.view(3, 1, 1))
                optimizer.zero_grad()
                F.cross_entropy(logits, y[rows]).backward()
                optimizer.step()
    weights = {f"module.{name}": held for name, held in net.state_dict().items()}  # as from DataParallel
    return {"model": weights, "mean": mean, "std": std, "labels": LABELS}


def shares(handle: Callable[[dict[str, Any]], dict[str, Any]], x: Tensor, y: Tensor, size: int) -> str:
    """How many are right and how many unsure, of pictures that are sent by `size`; and the statuses."""
    said, statuses = [], set()
    for pictures in x.split(size):
        reply = handle({"pictures": [photo(picture) for picture in pictures]})
        statuses.add(reply["status"])
        said += [a["label"] for a in reply.get("answers", [{"label": "no answer"}] * len(pictures))]
    right = sum(label == LABELS[i] for label, i in zip(said, y.tolist(), strict=True))
    return f"right {right:3d}, unsure {said.count('unsure'):2d} of {len(x)}, status {sorted(statuses)}"


def main() -> None:
    checkpoint, (x, y) = fit(), make(120, seed=2)
    state = {name.removeprefix("module."): value for name, value in checkpoint["model"].items()}
    (net := Net(len(LABELS))).load_state_dict(state)
    normal = (x - checkpoint["mean"].view(3, 1, 1)) / checkpoint["std"].view(3, 1, 1)
    right = (net.eval()(normal).argmax(1) == y).sum().item()
    print(f"notebook               right {right:3d} of {len(x)}")
    with tempfile.TemporaryDirectory() as folder:
        release(checkpoint, Path(folder, "fruit.pt2"))
        endpoint = load(Path(folder, "fruit.pt2"))
    for size in (40, 2, 1):
        print(f"endpoint, {size:2d} at a time ", shares(endpoint.handle, x, y, size))
    apples = {"pictures": [photo(a) for a in x[y == LABELS.index("apple")][:2]]}
    for _ in range(2):
        reply = endpoint.handle(apples)
        said = [f"{a['label']} {a['probability']:.3f}" for a in reply.get("answers", [])]
        print("two apples            ", *(said or [reply]))
    bad = {"a grey picture": [[[[0.0]]]], "no number": [[[[float("nan")] * 3]]], "no pictures": []}
    for name, pictures in bad.items():
        print(f"{name:22s} status", endpoint.handle({"pictures": pictures})["status"])


if __name__ == "__main__":
    main()
