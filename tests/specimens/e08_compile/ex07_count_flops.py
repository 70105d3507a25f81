"""Answers to count_flops that people write."""

from grader.authoring.specimen import Right, Wrong

COLUMNS = "2 * inner + 2 * decoder.kv_heads * decoder.head_dim"
ATTENTION = "2 * 2 * tokens * (past + time) * inner"
TABLE_END = '    return {**table, "total": sum(table.values())}\n'
BACKWARD = '    backward = 2 * trained["total"]\n'
FIRST = "first = columns if frozen < decoder.layers else decoder.vocabulary"
COUNTED = """from torch.utils.flop_counter import FlopCounterMode


def counted(m, k, n):
    a, b = torch.empty(m, k, device="meta"), torch.empty(k, n, device="meta")
    with FlopCounterMode(display=False) as counter:
        a @ b
    return counter.get_total_flops()
"""

SPECIMENS = [
    Wrong(
        "the FLOPs of a layer in floating point",
        edits=[
            (
                BACKWARD,
                '    layers = int((everything["total"] - everything["head"]) / max(decoder.layers, 1)) * (decoder.layers - frozen)\n    backward = 2 * (layers + trained["head"])\n',
            )
        ],
        check="test_exact_at_any_size",
    ),
    Wrong(
        "more heads of k and v than of q",
        edits=[
            (
                "    if decoder.heads % decoder.kv_heads:\n",
                "    if max(decoder.heads, decoder.kv_heads) % min(decoder.heads, decoder.kv_heads):\n",
            )
        ],
        check="test_bad_input",
        says="12 kv_heads",
    ),
    Wrong(
        "multiply-accumulates instead of FLOPs",
        edits=[
            (
                TABLE_END,
                '    table = {k: v // 2 for k, v in table.items()}\n    return {**table, "total": sum(table.values())}\n',
            )
        ],
        check="test_forward",
    ),
    Wrong(
        "2 k - 1 additions and multiplications for each number",
        edits=[
            (
                "2 * tokens * decoder.width * decoder.vocabulary",
                "tokens * (2 * decoder.width - 1) * decoder.vocabulary",
            )
        ],
        check="test_forward",
    ),
    Wrong(
        "k and v as wide as q",
        edits=[(COLUMNS, "4 * inner")],
        check="test_forward",
    ),
    Wrong(
        "no output projection",
        edits=[(COLUMNS, "inner + 2 * decoder.kv_heads * decoder.head_dim")],
        check="test_forward",
    ),
    Wrong(
        "all heads of q together are as wide as the model",
        edits=[("decoder.heads * decoder.head_dim\n", "decoder.width\n")],
        check="test_forward",
    ),
    Wrong(
        "head_dim from the width",
        edits=[
            (
                "    tokens, inner = ",
                "    decoder = replace(decoder, head_dim=decoder.width // decoder.heads)\n    tokens, inner = ",
            )
        ],
        check="test_forward",
    ),
    Wrong(
        "scores for each head of k only",
        edits=[(ATTENTION, "2 * 2 * tokens * (past + time) * decoder.kv_heads * decoder.head_dim")],
        check="test_forward",
    ),
    Wrong(
        "half of the scores, as the mask is causal",
        edits=[(ATTENTION, "2 * tokens * (past + time) * inner")],
        check="test_forward",
    ),
    Wrong(
        "the scores, but not the weighted sum",
        edits=[
            ("decoder.layers * " + ATTENTION, "decoder.layers * 2 * batch * time * (past + time) * inner")
        ],
        check="test_forward",
    ),
    Wrong(
        "a softmax of five operations for each score",
        edits=[(ATTENTION, ATTENTION + " + decoder.layers * 5 * tokens * (past + time) * decoder.heads")],
        check="test_forward",
    ),
    Wrong(
        "attention across the batch",
        edits=[(ATTENTION, "2 * 2 * tokens * (past + tokens) * inner")],
        check="test_forward",
    ),
    Wrong(
        "two matrices in the MLP",
        edits=[("* 3 * 2 * tokens", "* 2 * 2 * tokens")],
        check="test_forward",
    ),
    Wrong(
        "an embedding as a product with one-hot vectors",
        edits=[('"head": 2 * tokens', '"head": 2 * 2 * tokens')],
        check="test_forward",
    ),
    Wrong(
        "a head in each layer",
        edits=[('"head": 2 * tokens', '"head": decoder.layers * 2 * tokens')],
        check="test_forward",
    ),
    Wrong(
        "ignores the cache",
        edits=[("(past + time)", "time")],
        check="test_with_a_cache",
    ),
    Wrong(
        "computes the cached positions again",
        edits=[
            (
                "    tokens, inner = batch * time,",
                "    time, past = time + past, 0\n    tokens, inner = batch * time,",
            )
        ],
        check="test_with_a_cache",
    ),
    Wrong(
        "scores among the new positions and among the cached ones",
        edits=[(ATTENTION, "2 * 2 * batch * (past**2 + time**2) * inner")],
        check="test_with_a_cache",
    ),
    Wrong(
        "backward as dear as forward",
        edits=[(BACKWARD, '    backward = trained["total"]\n')],
        check="test_training",
    ),
    Wrong(
        "returns backward only",
        edits=[('return everything["total"] + backward', "return backward")],
        check="test_training",
    ),
    Wrong(
        "six FLOPs for each parameter and token",
        edits=[
            (
                '    return everything["total"] + backward\n',
                '    return everything["total"] + backward - 3 * everything["attention"]\n',
            )
        ],
        check="test_training",
    ),
    Wrong(
        "ignores frozen layers",
        edits=[
            ("layers=decoder.layers - frozen", "layers=decoder.layers"),
            ("    if frozen:", "    if False:"),
        ],
        check="test_frozen_layers",
    ),
    Wrong(
        "leaves frozen layers out of the forward pass",
        edits=[('    return everything["total"] + backward\n', '    return trained["total"] + backward\n')],
        check="test_frozen_layers",
    ),
    Wrong(
        "passes gradients on to where nobody needs them",
        edits=[("    if frozen:", "    if False:")],
        check="test_frozen_layers",
    ),
    Wrong(
        "passes gradients back through frozen layers",
        edits=[
            (
                "    if frozen:",
                '    backward += everything["total"] - trained["total"]\n    if False:',
            )
        ],
        check="test_frozen_layers",
    ),
    Wrong(
        "no gradients behind any product of the first trained layer",
        edits=[
            (
                FIRST,
                "first = columns + decoder.heads * decoder.head_dim + 3 * decoder.hidden if frozen < decoder.layers else decoder.vocabulary",
            )
        ],
        check="test_frozen_layers",
    ),
    Wrong(
        "forgets that a head alone gives no gradient on",
        edits=[(FIRST, "first = columns if frozen < decoder.layers else 0")],
        check="test_frozen_layers",
    ),
    Wrong(
        "gives no gradient on in the first layer, though the embedding is trained",
        edits=[("    if frozen:", "    if decoder.layers:")],
        check="test_training",
    ),
    Wrong(
        "one token at least",
        edits=[("    tokens, inner = batch * time,", "    tokens, inner = max(batch * time, 1),")],
        check="test_nothing_to_do",
    ),
    Wrong(
        "divides by the number of layers",
        edits=[
            (
                BACKWARD,
                '    body = (everything["total"] - everything["head"]) // decoder.layers * (decoder.layers - frozen)\n    backward = 2 * (body + everything["head"])\n',
            )
        ],
        check="test_nothing_to_do",
    ),
    Wrong(
        "floats on the way",
        edits=[
            ("decoder.layers * 3 * 2 * tokens", "int(decoder.layers * 6e0 * tokens"),
            ("decoder.width * decoder.hidden,", "decoder.width * decoder.hidden),"),
        ],
        check="test_exact_at_any_size",
    ),
    Wrong(
        "returns floats",
        edits=[
            (
                "2 * tokens * decoder.width * decoder.vocabulary",
                "2.0 * tokens * decoder.width * decoder.vocabulary",
            )
        ],
        check="test_forward",
    ),
    Wrong(
        "64-bit integers",
        edits=[
            ("from dataclasses", "import torch\nfrom dataclasses"),
            (
                '"total": sum(table.values())',
                '"total": torch.tensor([v % 2**63 for v in table.values()]).sum().item()',
            ),
        ],
        check="test_exact_at_any_size",
    ),
    Wrong(
        "lets PyTorch count",
        edits=[
            ("from dataclasses", "import torch\nfrom dataclasses"),
            ("@dataclass(frozen=True)\n", COUNTED + "\n\n@dataclass(frozen=True)\n"),
            (
                "2 * tokens * decoder.width * decoder.vocabulary",
                "counted(tokens, decoder.width, decoder.vocabulary)",
            ),
        ],
        check="test_by_formula",
    ),
    Wrong(
        "utilisation in percent",
        edits=[("tokens_per_second / (peak", "100 * tokens_per_second / (peak")],
        check="test_utilisation",
    ),
    Wrong(
        "looks at the product of peak and devices only",
        edits=[("if peak <= 0 or devices <= 0:", "if peak * devices <= 0:")],
        check="test_bad_input",
        says="peak=-1.0, devices=-2",
    ),
    Wrong("ignores devices", edits=[("(peak * devices)", "peak")], check="test_utilisation"),
    Wrong(
        "tokens per second of each device",
        edits=[("(peak * devices)", "(peak / devices)")],
        check="test_utilisation",
    ),
    Wrong(
        "the FLOPs of a sequence of one token",
        edits=[("training_flops(decoder, 1, time, frozen) / time", "training_flops(decoder, 1, 1, frozen)")],
        check="test_utilisation",
    ),
    Wrong(
        "the FLOPs of a token, rounded down",  # where they do not come out even
        edits=[
            (
                "training_flops(decoder, 1, time, frozen) / time",
                "training_flops(decoder, 1, time, frozen) // time // 100 * 100",
            )
        ],
        check="test_utilisation",
    ),
    Wrong(
        "as many sequences as tokens",
        edits=[("time, frozen) / time", "time, frozen)")],
        check="test_utilisation",
    ),
    Wrong(
        "utilisation by the forward pass",
        edits=[
            (
                "training_flops(decoder, 1, time, frozen) / time",
                'count_flops(decoder, 1, time)["total"] / time',
            )
        ],
        check="test_utilisation",
    ),
    Wrong(
        "utilisation without frozen",
        edits=[
            ("training_flops(decoder, 1, time, frozen) / time", "training_flops(decoder, 1, time) / time")
        ],
        check="test_utilisation",
    ),
    Wrong(
        "no check of the heads",
        edits=[("if decoder.heads % decoder.kv_heads:", "if False:")],
        check="test_bad_input",
    ),
    Wrong(
        "no check of frozen",
        edits=[("if not 0 <= frozen <= decoder.layers:", "if False:")],
        check="test_bad_input",
    ),
    Wrong(
        "no negative frozen",
        edits=[("if not 0 <= frozen <= decoder.layers:", "if frozen > decoder.layers:")],
        check="test_bad_input",
    ),
    Wrong(
        "division by zero where there is no hardware",
        edits=[("if peak <= 0 or devices <= 0:", "if peak < 0 or devices < 0:")],
        check="test_bad_input",
    ),
    Wrong(
        "asserts",
        edits=[
            (
                '    if peak <= 0 or devices <= 0:\n        raise ValueError(f"peak and devices must be above 0, but are {peak} and {devices}")\n',
                "    assert peak > 0 and devices > 0\n",
            )
        ],
        check="test_bad_input",
    ),
    Right(
        "a list of products, each with its sizes and what is needed of it",
        code="""
from collections import Counter, namedtuple
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Decoder:
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    vocabulary: int


Product = namedtuple("Product", "kind sizes times left_is_stream", defaults=(False,))


def _layer(d, b, t, past):
    if d.heads % d.kv_heads != 0:
        raise ValueError("heads")
    rows = b * t
    yield Product("projections", (rows, d.width, d.heads * d.head_dim), 1, True)
    yield Product("projections", (rows, d.width, d.kv_heads * d.head_dim), 2, True)
    yield Product("attention", (t, d.head_dim, t + past), b * d.heads)
    yield Product("attention", (t, t + past, d.head_dim), b * d.heads)
    yield Product("projections", (rows, d.heads * d.head_dim, d.width), 1)
    yield Product("mlp", (rows, d.width, d.hidden), 2)
    yield Product("mlp", (rows, d.hidden, d.width), 1)


def _flops(product):
    m, k, n = product.sizes
    return 2 * m * k * n * product.times


def _all(d, b, t, past=0):
    products = [list(_layer(d, b, t, past))] * d.layers
    if not products:
        list(_layer(d, b, t, past))
    return products + [[Product("head", (b * t, d.width, d.vocabulary), 1, True)]]


def count_flops(decoder, batch, time, past=0):
    counts = Counter(projections=0, attention=0, mlp=0, head=0)
    for part in _all(decoder, batch, time, past):
        for product in part:
            counts[product.kind] += _flops(product)
    return {**counts, "total": counts.total()}


def training_flops(decoder, batch, time, frozen=0):
    if frozen not in range(decoder.layers + 1):
        raise ValueError("frozen")
    total = 0
    for index, part in enumerate(_all(decoder, batch, time)):
        for product in part:
            gradients = 0 if index < frozen else 2
            if frozen and index == frozen and product.left_is_stream:
                gradients = 1
            total += _flops(product) * (1 + gradients)
    return total


def utilisation(decoder, tokens_per_second, time, peak, devices=1, frozen=0):
    if not (peak > 0 and devices > 0):
        raise ValueError("no hardware")
    sequences = Fraction(tokens_per_second) / time
    return float(training_flops(decoder, 1, time, frozen) * sequences / Fraction(peak) / devices)
""",
    ),
    Wrong(
        "keeps a table, and the caller has it too",
        edits=[("def count_flops(", "import functools\n\n\n@functools.cache\ndef count_flops(")],
        check="test_forward",
        says="called again",
    ),
    Wrong(
        "nothing to compute, so nothing to check",
        edits=[
            (
                "    if not 0 <= frozen <= decoder.layers:\n",
                "    if batch * time and not 0 <= frozen <= decoder.layers:\n",
            )
        ],
        check="test_bad_input",
        says="training_flops(decoder, 0, 8",
    ),
    Wrong(
        "rounds the share to twelve places",
        edits=[
            (
                "return per_token * tokens_per_second / (peak * devices)",
                "return round(per_token * tokens_per_second / (peak * devices), 12)",
            )
        ],
        check="test_utilisation",
        says="yours 0",
    ),
]
