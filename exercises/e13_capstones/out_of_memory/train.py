"""Train the upper blocks, and tell what memory it takes: python -m out_of_memory.train."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from .data import WORDS, Texts, make
from .loss import loss_of
from .model import Decoder
from .watch import Activity, Meter

TIME, BATCH, PART = 128, 14, 4  # words of a text, texts of a step, and of what the model sees at a time


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, parts: Sequence[Tensor]) -> float:
    """One step on texts that come in parts; the mean loss of a text before it."""
    texts, total = sum(map(len, parts)), 0.0
    for part in [torch.cat(list(parts))]:
        loss = loss_of(model, part) * len(part) / texts
        loss.backward(retain_graph=True)
        total = total + loss
    optimizer.step()
    optimizer.zero_grad()
    return total


@torch.no_grad()
def evaluate(model: nn.Module, texts: Texts, size: int = PART) -> float:
    """The mean loss of all texts, `size` at a time, in evaluation mode."""
    model.eval()
    total = 0.0
    for rows in torch.arange(len(texts)).split(size):
        total += loss_of(model, texts.batch(rows)).item() * len(rows)
    model.train()
    return total / len(texts)


def train(steps: int = 31, seed: int = 0, say: Callable[[str], None] = print) -> list[float]:
    """Train, and say what memory it takes; the losses."""
    torch.manual_seed(seed)
    model = Decoder(WORDS, width=32, heads=4, layers=4, frozen=2, time=TIME, dropout=0.1)
    learned, held_out = (Texts(make(size, TIME, number), TIME) for number, size in enumerate((200, 20)))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01)
    activity, losses = Activity(model), []
    say("          loss      at most    behind it")
    with Meter() as meter:
        for step in range(steps):
            meter.peak = meter.live
            parts = learned.batch(torch.randint(len(learned), (BATCH,))).split(PART)
            losses.append(train_step(model, optimizer, parts))
            del parts
            if step % 10 == 0:
                say(f"step {step:2d}   {losses[-1]:.2f}   {meter.told()}")
        meter.peak = meter.live
        loss = evaluate(model, held_out)
        say(f"held out  {loss:.2f}   {meter.told()}")
    say(f"sizes of blocks: {', '.join(f'{size:.2f}' for size in activity.report())}")
    return losses


if __name__ == "__main__":
    torch.set_num_threads(1)
    train()
