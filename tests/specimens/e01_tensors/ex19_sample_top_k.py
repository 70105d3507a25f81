"""Answers to sample_top_k that people write."""

from grader.authoring.specimen import Right, Wrong

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
        check="test_leading_dims",
    ),
    Wrong(
        "draws from the whole vocabulary",
        edits=[
            ("logits.topk(k, dim=-1)", "logits.topk(vocab, dim=-1)"),
            (CHANCES, "k = vocab\n    chances = largest.float().softmax(-1).reshape(-1, k)"),
        ],
        check="test_frequencies",
    ),
    Wrong(
        "draws evenly among the k",
        edits=[(CHANCES, "chances = torch.ones_like(largest, dtype=torch.float32).reshape(-1, k)")],
        check="test_frequencies",
        says="wrong frequencies",
    ),
    Wrong(
        "the chances of the first row for all rows",
        edits=[
            (
                DRAW,
                "n = max(1, len(chances))\n"
                "    first = torch.multinomial(chances[:1], n, replacement=True, generator=generator)\n"
                "    drawn = first.reshape(-1, 1)[: len(chances)]",
            )
        ],
        check="test_frequencies_with_more_dims",
        says="wrong frequencies",
    ),
    Wrong(
        "takes the most likely token, and draws nothing",
        edits=[(DRAW, "drawn = torch.zeros_like(chances[:, :1], dtype=torch.int64)")],
        check="test_frequencies",
    ),
    Wrong(
        "a temperature of two, which nobody asked for",
        edits=[("largest.float().softmax(dim=-1)", "(largest.float() / 2).softmax(dim=-1)")],
        check="test_frequencies",
    ),
    Wrong(
        "keeps the smallest",
        edits=[("logits.topk(k, dim=-1)", "logits.topk(k, dim=-1, largest=False)")],
        check="test_frequencies",
    ),
    Wrong(
        "one more than k",
        edits=[
            ("logits.topk(k, dim=-1)", "logits.topk(min(k + 1, vocab), dim=-1)"),
            (CHANCES, "k = largest.shape[-1]\n    chances = largest.float().softmax(-1).reshape(-1, k)"),
        ],
        check="test_leading_dims",
    ),
    Wrong(
        "one draw for all rows",
        edits=[
            (
                DRAW,
                "drawn = torch.multinomial(chances[:1], 1, generator=generator).expand(chances.shape[0], 1)",
            )
        ],
        check="test_frequencies",
    ),
    Wrong(
        "one draw for all slices along the first of two leading dims",
        edits=[
            (
                DRAW,
                "some = chances[: logits.shape[-2]] if logits.dim() > 2 else chances\n"
                "    drawn = torch.multinomial(some, 1, generator=generator)\n"
                "    drawn = drawn.repeat(len(chances) // max(1, len(drawn)), 1)",
            )
        ],
        check="test_rows_are_independent",
        says="share their randomness",
    ),
    Wrong(
        "softmax over the second dim, which is the last of two only",
        edits=[("softmax(dim=-1)", "softmax(dim=min(1, logits.dim() - 1))")],
        check="test_frequencies_with_more_dims",
        says="wrong frequencies",
    ),
    Wrong(
        "keeps all tokens of a row without leading dims",
        edits=[
            (
                REFUSE,
                REFUSE
                + "    if logits.dim() == 1 and k > 1:\n"
                + "        return torch.multinomial(logits.float().softmax(0), 1, generator=generator)[0]\n",
            )
        ],
        check="test_a_single_row",
    ),
    Wrong(
        "compares in float32",
        edits=[("logits.topk(k, dim=-1)", "logits.float().topk(k, dim=-1)")],
        check="test_close_logits",
    ),
    Wrong(
        "takes -inf for -1000, which is large beside -1e4",
        edits=[("logits.topk(k, dim=-1)", "logits.clamp(min=-1e3).topk(k, dim=-1)")],
        check="test_large_logits_and_inf",
    ),
    Wrong(
        "an empty batch before k is looked at",
        edits=[(REFUSE, "    if not logits.numel():\n        return logits[..., 0].long()\n" + REFUSE)],
        check="test_impossible_k",
        says="no error",
    ),
    Wrong(
        "a loop over the first of two leading dims",
        edits=[
            (
                REFUSE,
                REFUSE
                + "    if logits.dim() > 2 and logits.numel():\n"
                + "        return torch.stack([sample_top_k(part, k, generator) for part in logits])\n",
            )
        ],
        check="test_no_loop_over_rows",
        says="loop",
    ),
    Wrong(
        "softmax by hand, without a shift",
        edits=[
            (
                CHANCES,
                "powers = largest.float().exp()\n    chances = (powers / powers.sum(-1, keepdim=True)).reshape(-1, k)",
            )
        ],
        check="test_large_logits_and_inf",
    ),
    Wrong(
        "weights that are logits",
        edits=[(CHANCES, "chances = largest.float().clamp(min=0).reshape(-1, k)")],
        check="test_frequencies",
    ),
    Wrong(
        "drops tokens by a logit of 0, which is no small logit among negative ones",
        code="""
import torch

def sample_top_k(logits, k, generator):
    vocab = logits.shape[-1]
    if not 1 <= k <= vocab:
        raise ValueError("k")
    kth = logits.topk(k).values[..., -1:]
    chances = torch.where(logits < kth, 0.0, logits.double()).softmax(-1)
    return torch.multinomial(chances.reshape(-1, vocab), 1, generator=generator).reshape(logits.shape[:-1])
""",
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
        "ids as int32",
        edits=[("# (*batch): token ids", ".int()")],
        check="test_every_floating_dtype",
    ),
    Wrong(
        "a float32 constant in the middle",
        edits=[
            ("largest.float()", "(largest if largest.dtype == torch.float32 else largest @ torch.eye(k))")
        ],
        check="test_every_floating_dtype",
    ),
    Wrong(
        "one or two dimensions, as multinomial takes them",
        edits=[
            (CHANCES, "chances = largest.float().softmax(dim=-1)"),
            (IDS, "ids.gather(-1, drawn).squeeze(-1)"),
        ],
        check="test_leading_dims",
    ),
    Wrong(
        "squeezes a batch of one away",
        edits=[(IDS, "ids.reshape(-1, k).gather(-1, drawn).reshape(logits.shape[:-1]).squeeze()")],
        check="test_leading_dims",
        says="wrong shape",
    ),
    Wrong(
        "keeps the last dim",
        edits=[(".reshape(logits.shape[:-1])", ".reshape(*logits.shape[:-1], 1)")],
        check="test_leading_dims",
        says="wrong shape",
    ),
    Wrong(
        "views transposed logits",
        edits=[("logits.topk(k, dim=-1)", "logits.view(-1, vocab).topk(k, dim=-1)")],
        check="test_strided_logits",
        says="view size",
    ),
    Wrong(
        "ignores the generator",
        edits=[(", generator=generator)", ")")],
        check="test_global_stream_is_left_alone",
        says="global random stream",
    ),
    Wrong(
        "seeds the global stream from the generator",
        edits=[
            (
                DRAW,
                "torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))\n    drawn = torch.multinomial(chances, 1)",
            )
        ],
        check="test_global_stream_is_left_alone",
    ),
    Wrong(
        "seeds the generator, for reproducible ids",
        edits=[(DRAW, "drawn = torch.multinomial(chances, 1, generator=generator.manual_seed(0))")],
        check="test_generator_decides",
        says="seeded",
    ),
    Wrong(
        "draws from a copy of the generator",
        edits=[
            (
                DRAW,
                "copy = torch.Generator()\n    copy.set_state(generator.get_state())\n    drawn = torch.multinomial(chances, 1, generator=copy)",
            )
        ],
        check="test_generator_decides",
        says="copied",
    ),
    Wrong(
        "masks the caller's logits",
        code="""
import torch

def sample_top_k(logits, k, generator):
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k is {k}")
    if not logits.numel():
        return torch.zeros(logits.shape[:-1], dtype=torch.int64)
    logits = logits if logits.is_contiguous() else logits.contiguous()
    logits[logits < logits.topk(k).values[..., -1:]] = -float("inf")
    chances = logits.float().softmax(-1).flatten(0, -2) if logits.dim() > 1 else logits.float().softmax(-1)[None]
    return torch.multinomial(chances, 1, generator=generator).reshape(logits.shape[:-1])
""",
        check="test_logits_are_left_alone",
        says="changes its input logits",
    ),
    Wrong(
        "row by row",
        edits=[
            (
                DRAW,
                "drawn = torch.stack([torch.multinomial(row, 1, generator=generator) for row in chances]) if len(chances) else torch.zeros(0, 1, dtype=torch.int64)",
            )
        ],
        check="test_no_loop_over_rows",
        says="loop",
    ),
    Wrong(
        "makes an impossible k possible",
        edits=[(REFUSE, "    k = max(1, min(k, vocab))\n")],
        check="test_impossible_k",
        says="no error",
    ),
    Wrong(
        "compares k with the number of rows",
        edits=[("1 <= k <= vocab:", "1 <= k <= logits.shape[0]:")],
        check="test_impossible_k",
    ),
    Wrong(
        "refuses the size of the vocabulary too",
        edits=[("1 <= k <= vocab:", "1 <= k < vocab:")],
        check="test_impossible_k",
    ),
    Wrong(
        "leaves the refusal to topk, whose RuntimeError is another error",
        edits=[(REFUSE, "")],
        check="test_impossible_k",
        says="wrong error",
    ),
    Wrong(
        "softmax first, which rounds close logits to a tie, and the k largest of it",
        edits=[
            (
                "    largest, ids = logits.topk(k, dim=-1)  # (*batch, k) each\n",
                "    _, ids = logits.double().softmax(dim=-1).topk(k, dim=-1)\n    largest = logits.gather(-1, ids)\n",
            )
        ],
        check="test_close_logits",
        says="near 0",
    ),
    Wrong(
        "Gumbel noise added in the dtype of the logits: at 1e4, float16 knows steps of 8",
        edits=[
            (
                "    drawn = torch.multinomial(chances, 1, generator=generator)  # (rows, 1): places among the k\n",
                "    noise = -torch.empty(largest.shape).exponential_(generator=generator).log()\n"
                "    drawn = (largest + noise.to(largest.dtype)).argmax(-1).reshape(-1, 1)\n",
            )
        ],
        check="test_large_logits_and_inf",
        says="float16",
    ),
    Wrong(
        "Gumbel noise in bfloat16 only: near 256 it knows steps of 2",
        edits=[
            (
                "    chances = largest.float()",
                "    if logits.dtype == torch.bfloat16:\n"
                "        noise = torch.empty_like(largest).exponential_(generator=generator).log().neg()\n"
                "        return ids.gather(-1, (largest + noise).argmax(-1, keepdim=True)).squeeze(-1)\n"
                "    chances = largest.float()",
            )
        ],
        check="test_every_floating_dtype",
        says="wrong frequencies",
    ),
    Wrong(
        "masks a single row in place",
        edits=[
            (
                "    chances = largest.float()",
                "    if logits.dim() == 1:\n        logits.masked_fill_(logits < largest[-1], -float('inf'))\n"
                "    chances = largest.float()",
            )
        ],
        check="test_logits_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "skips a draw at every second call: the same state gives other ids",
        edits=[
            (
                "    vocab = logits.shape[-1]\n",
                "    sample_top_k.calls = getattr(sample_top_k, 'calls', 0) + 1\n"
                "    torch.rand(sample_top_k.calls % 2, generator=generator)\n    vocab = logits.shape[-1]\n",
            )
        ],
        check="test_generator_decides",
    ),
    Wrong(
        "sums of probabilities in bfloat16: most steps of 0.1 % vanish",
        edits=[
            (
                "    drawn = torch.multinomial(chances, 1, generator=generator)  # (rows, 1): places among the k\n",
                "    sums = largest.softmax(-1).cumsum(-1).reshape(-1, k)\n"
                "    point = torch.rand(len(sums), 1, generator=generator) * sums[:, -1:]\n"
                "    drawn = (sums <= point).sum(-1, keepdim=True).clamp(max=k - 1)\n",
            )
        ],
        check="test_every_floating_dtype",
        says="never drawn",
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
    Wrong(
        "draws before it looks at k",
        edits=[(REFUSE, "    torch.rand(logits.shape, generator=generator)\n" + REFUSE)],
        check="test_impossible_k",
        says="draws before",
    ),
    Wrong(
        "NumPy, which takes no logits that require gradients",
        edits=[(CHANCES, CHANCES.replace("largest", "torch.from_numpy(largest.float().numpy())"))],
        check="test_logits_are_left_alone",
    ),
    Wrong(
        "lends the generator's state to the global stream, and puts that back",
        edits=[
            (
                "    drawn = torch.multinomial(chances, 1, generator=generator)",
                """    kept = torch.get_rng_state()
    torch.set_rng_state(generator.get_state())
    drawn = torch.multinomial(chances, 1)
    generator.set_state(torch.get_rng_state())
    torch.set_rng_state(kept)""",
            )
        ],
        check="test_global_stream_is_left_alone",
        says="puts it back",
    ),
    Wrong(
        "softmax in the dtype of the logits",
        edits=[("largest.float().softmax(dim=-1)", "largest.softmax(dim=-1).float()")],
        check="test_no_draw_in_half_precision",
        says="yours   softmax",
    ),
    Wrong(
        "noise in the dtype of the logits",
        edits=[
            (
                DRAW,
                "noise = torch.empty_like(largest).exponential_(generator=generator).reshape(-1, k)\n"
                "    drawn = (chances / noise).argmax(-1, keepdim=True)",
            )
        ],
        check="test_no_draw_in_half_precision",
        says="yours   exponential",
    ),
    Wrong(
        "draws by chances in the dtype of the logits",
        edits=[("torch.multinomial(chances,", "torch.multinomial(chances.to(logits.dtype),")],
        check="test_no_draw_in_half_precision",
        says="yours   multinomial",
    ),
    Right(
        "softmax is told to compute in float64",
        edits=[("largest.float().softmax(dim=-1)", "torch.softmax(largest, dim=-1, dtype=torch.float64)")],
    ),
    Right(
        "logits and Gumbel noise",
        edits=[
            (
                DRAW,
                "noise = torch.rand(chances.shape, generator=generator, dtype=torch.float64)\n"
                "    scores = largest.reshape(-1, k) - (-noise.log()).log()\n"
                "    drawn = scores.argmax(-1, keepdim=True)",
            )
        ],
    ),
    Wrong(
        "returns the place for the id in a single row of which all tokens stay",
        edits=[
            (
                "    return " + IDS,
                "    if logits.dim() == 1 and k == vocab:\n        return drawn.reshape(())\n    return "
                + IDS,
            )
        ],
        check="test_a_single_row",
        says="one large logit",
    ),
    Wrong(
        "draws from the global stream for a single row",
        edits=[("generator=generator", "generator=generator if logits.dim() > 1 else None")],
        check="test_generator_decides",
        says="a single row",
    ),
    Wrong(
        "draws half of the rows, and mirrors the noise for the others",
        edits=[
            (
                DRAW,
                "half = torch.rand((len(chances) + 1) // 2, 1, generator=generator)\n"
                "    mirrored = torch.cat([half, 1 - half])[: len(chances)]\n"
                "    drawn = (chances.cumsum(-1) < mirrored).sum(-1, keepdim=True)\n"
                "    drawn = drawn.clamp(max=(chances > 0).sum(-1, keepdim=True) - 1)",
            )
        ],
        check="test_rows_are_independent",
        says="200 calls",
    ),
]
