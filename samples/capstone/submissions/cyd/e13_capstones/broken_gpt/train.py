"""Train a small GPT: python -m broken_gpt.train."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .data import LETTERS, batch, corpus, decode, encode, split, windows
from .model import GPT
from .optim import groups, rate
from .sample import generate


def loss_of(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The mean cross-entropy of a letter, in nats."""
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, lr: float) -> float:
    """One step on one batch with the learning rate `lr`; the loss before it."""
    for group in optimizer.param_groups:
        group["lr"] = lr
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(model: nn.Module, ids: Tensor, block: int) -> float:
    """The loss on all whole pieces of `ids`, side by side."""
    model.eval()
    loss = loss_of(model, *windows(ids, torch.arange(0, len(ids) - block, block), block))
    model.train()
    return loss.item()


def train(steps: int = 300, seed: int = 0, say: Callable[[str], None] = print) -> tuple[GPT, float]:
    """Train, and say how it goes; the model, and its loss on what is held out."""
    torch.manual_seed(seed)
    gen = torch.Generator().manual_seed(seed)
    learned, held_out = split(encode(corpus()))
    model = GPT(len(LETTERS), width=32, heads=4, layers=2, block=32, dropout=0.1)
    optimizer = torch.optim.AdamW(groups(model, decay=0.1), lr=0.0, betas=(0.9, 0.95))
    size = sum(parameter.numel() for parameter in model.parameters())
    say(f"{size} parameters, {len(learned)} letters to learn, {len(held_out)} held out")
    for step in range(steps):
        lr = rate(step, steps, peak=0.01, warmup=steps // 10)
        loss = train_step(model, optimizer, *batch(learned, model.block, 16, gen), lr)
        if step % 50 == 0 or step == steps - 1:
            other = evaluate(model, held_out, model.block)
            say(f"step {step:3d}: {loss:.2f} in training, {other:.3f} held out")
    return model, evaluate(model, held_out, model.block)


def main() -> None:
    """The run of the README, and new text."""
    torch.set_num_threads(1)
    model, loss = train()
    print(f"at the end  {loss:.3f} held out")
    start, gen = encode("the ").unsqueeze(0), torch.Generator().manual_seed(1)
    print(decode(generate(model.eval(), start, 100, gen)[0]))


if __name__ == "__main__":
    main()
