"""Answers to sample_top_k that people write."""

from grader.authoring.specimen import Right, Works, Wrong

REFUSE = """    if not 1 <= k <= vocab:
        raise ValueError(f"k is {k}; it must be between 1 and {vocab}, the size of the vocabulary")
"""
CHANCES = "chances = largest.float().softmax(dim=-1).reshape(-1, k)  # multinomial wants (rows, k)"
DRAW = "drawn = torch.multinomial(chances, 1, generator=generator)  # (rows, 1): places among the k"
IDS = "ids.reshape(-1, k).gather(-1, drawn).reshape(logits.shape[:-1])  # (*batch): token ids"

SPECIMENS = [
    Wrong(
        "returns places among the k for token ids",
        edits=[(IDS, "drawn.reshape(logits.shape[:-1])")],
        check="test_frequencies",
        says="not ids of tokens",
        rung="job",
    ),
    Wrong(
        "draws from the whole vocabulary",
        edits=[
            ("logits.topk(k, dim=-1)", "logits.topk(vocab, dim=-1)"),
            (CHANCES, "k = vocab\n    " + CHANCES),
        ],
        check="test_frequencies",
        says="wrong frequencies",
        rung="job",
    ),
    Wrong(
        "draws evenly among the k",
        edits=[(CHANCES, "chances = torch.ones_like(largest, dtype=torch.float32).reshape(-1, k)")],
        check="test_frequencies",
        says="wrong frequencies",
        rung="job",
    ),
    Wrong(
        "keeps the smallest",
        edits=[("logits.topk(k, dim=-1)", "logits.topk(k, dim=-1, largest=False)")],
        check="test_values",
        says="smallest logits",
        rung="job",
    ),
    Wrong(
        "keeps the last dim, as multinomial gives it",
        edits=[(".reshape(logits.shape[:-1])", ".reshape(*logits.shape[:-1], 1)")],
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "one draw for all rows",
        edits=[
            (DRAW, "drawn = torch.multinomial(chances[:1], 1, generator=generator).expand(len(chances), 1)")
        ],
        check="test_rows_are_independent",
        says="share their randomness",
        rung="job",
    ),
    Wrong(
        "the chances of the first row for all rows",
        edits=[("largest.float()", "largest[:1].float().expand(largest.shape)")],
        check="test_frequencies",
        says="wrong frequencies",
        rung="job",
    ),
    Wrong(
        "ignores the generator",
        edits=[(", generator=generator)", ")")],
        check="test_generator_decides",
        says="back in the same state",
        rung="job",
    ),
    Wrong(
        "seeds the generator, for reproducible ids",
        edits=[(DRAW, "drawn = torch.multinomial(chances, 1, generator=generator.manual_seed(0))")],
        check="test_generator_decides",
        says="seeded",
        rung="job",
    ),
    Wrong(
        "row by row",
        code="""
import torch

def sample_top_k(logits, k, generator):
    drawn = []
    for row in logits:
        largest, ids = row.topk(k)
        drawn.append(ids[torch.multinomial(largest.softmax(0), 1, generator=generator)])
    return torch.cat(drawn)
""",
        check="test_no_loop",
        says="loop",
        rung="job",
    ),
    Wrong(
        "one or two dimensions, as multinomial takes them",
        edits=[
            (CHANCES, "chances = largest.float().softmax(dim=-1)"),
            (IDS, "ids.gather(-1, drawn).squeeze(-1)"),
        ],
        check="test_leading_dimensions",
    ),
    Wrong(
        "softmax over the second dim, which is the last of two only",
        edits=[("softmax(dim=-1)", "softmax(dim=min(1, logits.dim() - 1))")],
        check="test_frequencies_with_more_dimensions",
        says="wrong frequencies",
    ),
    Wrong(
        "views transposed logits",
        edits=[("logits.topk(k, dim=-1)", "logits.view(-1, vocab).topk(k, dim=-1)")],
        check="test_strides",
        says="view size",
    ),
    Wrong(
        "softmax by hand, without a shift",
        edits=[
            (
                CHANCES,
                "chances = (largest.float().exp() / largest.float().exp().sum(-1, True)).reshape(-1, k)",
            )
        ],
        check="test_large_logits_and_inf",
    ),
    Wrong(
        "keeps all that are as large as the k-th",
        code="""
import torch

def sample_top_k(logits, k, generator):
    vocab = logits.shape[-1]
    if not 1 <= k <= vocab:
        raise ValueError("k")
    kth = logits.topk(k).values[..., -1:]
    chances = logits.double().masked_fill(logits < kth, -float("inf")).softmax(-1)
    return torch.multinomial(chances.reshape(-1, vocab), 1, generator=generator).reshape(logits.shape[:-1])
""",
        check="test_ties",
        says="more than k",
    ),
    Wrong(
        "softmax in the dtype of the logits",
        edits=[("largest.float().softmax(dim=-1)", "largest.softmax(dim=-1).float()")],
        check="test_half_precision",
        says="yours   softmax",
    ),
    Wrong(
        "Gumbel noise added in the dtype of the logits",
        edits=[
            (
                DRAW,
                "noise = -torch.empty(largest.shape).exponential_(generator=generator).log()\n"
                "    drawn = (largest + noise.to(largest.dtype)).argmax(-1).reshape(-1, 1)",
            )
        ],
        check="test_half_precision",
        says="wrong frequencies",
    ),
    Wrong(
        "seeds the global stream from the generator",
        edits=[
            (
                DRAW,
                "torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))\n"
                "    drawn = torch.multinomial(chances, 1)",
            )
        ],
        check="test_global_stream_is_left_alone",
    ),
    Wrong(
        "leaves the refusal to topk, whose RuntimeError is another error",
        edits=[(REFUSE, "")],
        check="test_errors",
        says="wrong error",
    ),
    Wrong(
        "masks the caller's logits",
        edits=[
            (
                "    largest, ids =",
                '    logits.masked_fill_(logits < logits.topk(k, dim=-1).values[..., -1:], -float("inf"))\n'
                "    largest, ids =",
            )
        ],
        check="test_arguments_are_left_alone",
        says="changes its input logits",
    ),
    Works(
        "as nanoGPT's generate",
        code="""
import torch
import torch.nn.functional as F

def sample_top_k(logits, k, generator):
    logits = logits.clone()
    v, _ = torch.topk(logits, min(k, logits.size(-1)))
    logits[logits < v[:, [-1]]] = -float("Inf")
    probs = F.softmax(logits, dim=-1)
    return torch.multinomial(probs, num_samples=1, generator=generator).squeeze(-1)
""",
    ),
    Works(
        "the k largest probabilities, made to add up to one again",
        code="""
import torch

def sample_top_k(logits, k, generator):
    probs = torch.softmax(logits, dim=-1)
    top_probs, top_ids = torch.topk(probs, k, dim=-1)
    top_probs = top_probs / top_probs.sum(dim=-1, keepdim=True)
    choice = torch.multinomial(top_probs, 1, generator=generator)
    return torch.gather(top_ids, -1, choice)[:, 0]
""",
    ),
    Right(
        "Gumbel noise instead of multinomial",
        code="""
import torch

def sample_top_k(logits, k, generator):
    if k < 1 or k > logits.size(-1):
        raise ValueError(f"cannot keep {k} of {logits.size(-1)} tokens")
    values, ids = torch.topk(logits.double(), k)
    noise = -torch.empty_like(values).exponential_(generator=generator).log()
    return ids.gather(-1, (values + noise).argmax(-1, keepdim=True)).squeeze(-1)
""",
    ),
    Right(
        "inverts the cumulative distribution of the sorted logits",
        code="""
import torch

def sample_top_k(logits, k, generator):
    vocab = logits.shape[-1]
    if k not in range(1, vocab + 1):
        raise ValueError("k must be in 1..vocab")
    ordered, ids = torch.sort(logits.to(torch.float64), dim=-1, descending=True)
    steps = torch.softmax(ordered[..., :k], -1).cumsum(-1)
    u = torch.rand(*logits.shape[:-1], 1, dtype=torch.float64, generator=generator) * steps[..., -1:]
    place = (steps <= u).sum(-1, keepdim=True).clamp(max=k - 1)
    return torch.take_along_dim(ids, place, -1)[..., 0]
""",
    ),
]
