"""What one looks at: `python -m slow_cache.report` compares ways that should give the same."""

import torch

from .cache import Cache
from .generate import beams, generate
from .model import Decoder
from .serve import Server

PROMPTS = [[5, 17, 3, 28, 11, 8], [20, 9], [1, 30, 6, 14], [7] * 5 + list(range(20))]


def plain(model: Decoder, prompt: list[int], count: int) -> list[int]:
    """The likeliest tokens, without a cache: all is read for each."""
    ids = torch.tensor([prompt])
    for _ in range(count):
        ids = torch.cat((ids, model(ids)[:, -1:].argmax(dim=2)), dim=1)
    return ids[0, len(prompt) :].tolist()


def same(yours: list[int], wanted: list[int]) -> int:
    """How many tokens at the beginning are the same."""
    return next((i for i, (a, b) in enumerate(zip(yours, wanted, strict=False)) if a != b), len(yours))


@torch.no_grad()
def measure() -> dict[str, int]:
    """The numbers that are printed."""
    torch.manual_seed(0)
    model = Decoder(vocab=32, width=32, heads=4, layers=2, window=12)
    alone = [plain(model, prompt, 24) for prompt in PROMPTS]
    read: list[int] = []
    handle = model.register_forward_pre_hook(lambda _, args: read.append(args[0].size(1)))
    cache = Cache(1)
    found = {
        "tokens as without a cache, of 24": same(generate(model, PROMPTS[:1], 24, cache=cache)[0], alone[0])
    }
    found["tokens read for the 24th"] = read[-1]
    handle.remove()
    found["places held in the end"] = max(keys.size(2) for keys in cache.keys.values())
    batch = generate(model, PROMPTS, 24)
    found["tokens as alone, of 96 in a batch"] = sum(map(same, batch, alone))
    stop = alone[0][1]
    ends = [row.index(stop) + 1 if stop in row else 24 for row in alone]
    rows = generate(model, PROMPTS, 24, stop=stop)
    found["rows that end where they should, of 4"] = sum(len(r) == e for r, e in zip(rows, ends, strict=True))
    server = Server(model)
    first = server.ask("ann", PROMPTS[0], 5)
    server.suggest("ann", [13], 4)
    wanted = plain(model, PROMPTS[0] + first + PROMPTS[2], 24)
    found["tokens of a second reply, of 24"] = same(server.ask("ann", PROMPTS[2], 24), wanted)
    texts, scores = beams(model, PROMPTS[0], 4, 6)
    whole = torch.cat((torch.tensor([PROMPTS[0]] * 4), texts), dim=1)
    logs = model(whole)[:, len(PROMPTS[0]) - 1 : -1].log_softmax(dim=2)
    sums = logs.gather(2, texts[:, :, None]).sum(dim=(1, 2))
    found["beams with the right score, of 4"] = int(torch.isclose(sums, scores, atol=1e-3).sum())
    return found


if __name__ == "__main__":
    for what, number in measure().items():
        print(f"{what:<40}{number:>4}")
