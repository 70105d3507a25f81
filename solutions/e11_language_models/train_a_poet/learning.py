import torch
from torch.nn import functional as F

from .model import LanguageModel

BATCH, TIME = 12, 48


def train(text: str, seed: int, steps: int = 400) -> tuple[LanguageModel, str]:
    letters = "".join(sorted(set(text)))
    ids = torch.tensor([letters.index(letter) for letter in text])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LanguageModel(len(letters))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps + 1, pct_start=0.1)
        for _ in range(steps):
            first = torch.randint(len(ids) - TIME, (BATCH, 1))
            windows = ids[first + torch.arange(TIME + 1)]  # (batch, time + 1)
            logits = model(windows[:, :-1])  # (batch, time, vocab)
            loss = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return model.eval(), letters
