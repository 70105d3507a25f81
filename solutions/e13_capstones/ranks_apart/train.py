"""Train on two ranks: `python -m ranks_apart.train`."""

import multiprocessing
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from .data import CLASSES, Sampler, batches, make, noise_stream, noisy
from .model import Net
from .ranks import average_gradients, average_statistics, load, save, share, total

BATCH, PARTS, EPOCHS = 10, 2, 6  # rows of a batch on one rank, parts it is taken in, epochs
RATE, CLIP = 0.1, 1.0  # learning rate for one rank, and the largest norm of the gradient
X, Y = make(301, seed=1)
TEST_X, TEST_Y = make(151, seed=2)


def optimizer_for(model: nn.Module, world: int) -> torch.optim.SGD:
    """SGD with the learning rate for a batch of so many ranks."""
    return torch.optim.SGD(model.parameters(), lr=RATE * world, momentum=0.5)


def backward(model: nn.Module, parts: list[tuple[Tensor, Tensor]]) -> float:
    """Add the gradients of the mean loss over equal parts; that mean."""
    mean = 0.0
    for x, y in parts:
        loss = F.cross_entropy(model(x), y) / len(parts)
        loss.backward()
        mean += loss.item()
    return mean


def step(model: nn.Module, optimizer: torch.optim.Optimizer, parts: list[tuple[Tensor, Tensor]]) -> float:
    """One update with the batches of all ranks; the mean loss on this one."""
    optimizer.zero_grad()
    loss = backward(model, parts)
    average_gradients(model)
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    return loss


@torch.no_grad()
def evaluate(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """The accuracy on these rows, which the ranks share out among them."""
    rank, world = dist.get_rank(), dist.get_world_size()
    average_statistics(model)
    model.eval()
    hits = (model(x[rank::world]).argmax(1) == y[rank::world]).double()
    sums = torch.tensor([hits.sum(), len(hits)], dtype=torch.float64)
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def classes_of(y: Tensor) -> dict[str, int]:
    """How many rows of each class there are, in the order in which the classes come."""
    counts = {str(c): 0 for c in y.unique_consecutive().tolist() + list(range(CLASSES))}
    for c in y.tolist():
        counts[str(c)] += 1
    return counts


def report(epoch: int, loss: float, accuracy: float, tell: Callable[[str], object] = print) -> float:
    """The loss as a mean over ranks; rank 0 tells it."""
    mean = torch.tensor(loss, dtype=torch.float64)
    dist.all_reduce(mean)
    mean /= dist.get_world_size()
    if dist.get_rank() == 0:
        tell(f"epoch {epoch}   loss {mean.item():.3f}   accuracy {accuracy:.3f}")
    return mean.item()


def fit(folder: str | Path, epochs: int = EPOCHS, seed: int = 0) -> tuple[Net, list[float], list[float]]:
    """Train on all ranks of the group; the model as loaded from its file, losses and accuracies."""
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1000 * seed + rank)
    model = Net()
    share(model)
    optimizer, stream = optimizer_for(model, world), noise_stream(seed, rank)
    sampler, losses, accuracies = Sampler(len(X), rank, world, seed), [], []
    for epoch in range(epochs):
        model.train()
        mine = []
        for rows in batches(sampler, epoch, BATCH):
            x, y = noisy(X[rows], stream), Y[rows]
            parts = PARTS if len(rows) % PARTS == 0 else 1
            mine.append(step(model, optimizer, list(zip(x.chunk(parts), y.chunk(parts), strict=True))))
        accuracies.append(evaluate(model, TEST_X, TEST_Y))
        losses.append(report(epoch, sum(mine) / len(mine), accuracies[-1]))
    counts = total(classes_of(Y[sampler.rows()]))
    if rank == 0:
        print("rows of each class:", *(f"{name}: {count}" for name, count in sorted(counts.items())))
    save(model, Path(folder) / "model.pt")
    load(model, Path(folder) / "model.pt")
    return model, losses, accuracies


def work(rank: int, world: int, folder: str) -> None:
    """One rank of the run."""
    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    dist.init_process_group(
        "gloo", init_method=store, rank=rank, world_size=world, timeout=timedelta(seconds=20)
    )
    model, _, _ = fit(folder)
    weights = sum(p.sum().item() for p in model.parameters())
    for each in range(world):  # one after the other
        if rank == each:
            print(f"rank {rank} ends, sum of its weights {weights:.4f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


def main(world: int = 2) -> None:
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("spawn")
        ranks = [context.Process(target=work, args=(rank, world, folder)) for rank in range(world)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()


if __name__ == "__main__":
    main()
