"""Draw the pictures of the chapters from real tensors: `python docs/draw.py` writes docs/pictures/*.svg."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import torch
from torch import Tensor

HERE = Path(__file__).parent / "pictures"
CELL = 34
INK, FAINT, WARM, COOL, GREEN, PAPER = "#1f2328", "#6e7781", "#ffd8b5", "#cfe3ff", "#d8f0d0", "#ffffff"


class Drawing:
    """Shapes and texts on a white card."""

    def __init__(self, title: str, width: int, height: int) -> None:
        self.title, self.width, self.height = title, width, height
        self.parts: list[str] = []

    def text(
        self, x: float, y: float, words: str, *, at: str = "start", size: int = 13, ink: str = INK
    ) -> None:
        """Words whose middle line is at y; `at` is start, middle or end."""
        self.parts.append(
            f'<text x="{x:g}" y="{y + size * 0.35:g}" font-size="{size}" text-anchor="{at}" fill="{ink}">'
            f"{escape(words)}</text>"
        )

    def box(self, x: float, y: float, words: str, *, fill: str = PAPER, width: float = CELL) -> None:
        """A cell with words in its middle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{CELL}" fill="{fill}" stroke="{FAINT}"/>'
        )
        self.text(x + width / 2, y + CELL / 2, words, at="middle")

    def matrix(
        self, x: float, y: float, values: Tensor, fill: Callable[[int, int], str] | None = None
    ) -> None:
        """A matrix's numbers in cells."""
        for i, row in enumerate(values.tolist()):
            for j, value in enumerate(row):
                colour = fill(i, j) if fill else PAPER
                self.box(x + j * CELL, y + i * CELL, f"{value:g}", fill=colour)

    def arrow(self, start: tuple[float, float], end: tuple[float, float], *, bend: float = 0) -> None:
        """An arrow; `bend` pushes its middle up or down."""
        (x0, y0), (x1, y1) = start, end
        middle = f"{(x0 + x1) / 2:g} {(y0 + y1) / 2 + bend:g}"
        self.parts.append(
            f'<path d="M{x0:g} {y0:g} Q{middle} {x1:g} {y1:g}" fill="none" stroke="{INK}" '
            'marker-end="url(#tip)"/>'
        )

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" role="img" aria-label="{escape(self.title)}" '
            'font-family="ui-monospace, Menlo, Consolas, monospace">'
        )
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{INK}"/></marker></defs>'
        )
        card = f'<rect width="{self.width}" height="{self.height}" rx="8" fill="{PAPER}"/>'
        return "\n".join([head, f"<title>{escape(self.title)}</title>", tip, card, *self.parts, "</svg>", ""])


def strides() -> Drawing:
    """One storage, seen twice."""
    x = torch.arange(6.0).view(2, 3)
    turned = x.T
    drawing = Drawing("A matrix and its transpose are two ways to step through one storage", 680, 250)
    drawing.text(20, 24, "storage: one flat run of numbers")
    colours = [WARM if i < 3 else COOL for i in range(6)]
    for i, value in enumerate(x.flatten().tolist()):
        drawing.box(20 + i * CELL, 40, f"{value:g}", fill=colours[i])
    for place, (name, view) in enumerate((("x", x), ("x.T", turned))):
        left = 20 + place * 280
        drawing.text(left, 106, f"{name}: shape {tuple(view.shape)}, stride {view.stride()}")
        drawing.matrix(left, 122, view, lambda i, j, view=view: colours[int(view[i, j])])  # type: ignore[misc]
    down = 20 + x.stride(0) * CELL
    drawing.arrow((20 + CELL / 2, 40), (down + CELL / 2, 40), bend=-12)
    drawing.text(left + 2 * CELL + 12, 140, f"x.T is contiguous: {turned.is_contiguous()}", ink=FAINT)
    drawing.text(left + 2 * CELL + 12, 162, "a column below is a row in", ink=FAINT)
    drawing.text(left + 2 * CELL + 12, 180, "storage: view(6) cannot", ink=FAINT)
    drawing.text(20 + 6 * CELL + 12, 57, f"x.stride(0) = {x.stride(0)}: the next row", ink=FAINT)
    return drawing


def broadcasting() -> Drawing:
    """A forgotten dimension makes every pair."""
    column, row = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([10.0, 20.0, 30.0])
    together = column + row
    drawing = Drawing("A column and a row are stretched to a matrix of all pairs", 680, 170)
    drawing.text(20, 24, f"{tuple(column.shape)}")
    drawing.matrix(20, 40, column, lambda i, j: WARM)
    drawing.text(80, 91, "+", size=18)
    drawing.text(110, 24, f"{tuple(row.shape)}, read as (1, 3)")
    drawing.matrix(110, 74, row[None], lambda i, j: COOL)
    drawing.text(250, 91, "=", size=18)
    drawing.text(300, 24, f"{tuple(together.shape)}")
    drawing.matrix(300, 40, together)
    drawing.text(430, 60, "aligned from the right;", ink=FAINT)
    drawing.text(430, 80, "a dim of size 1 is", ink=FAINT)
    drawing.text(430, 100, "stretched, at stride 0:", ink=FAINT)
    drawing.text(430, 120, f"{column.expand(3, 3).stride()} and {row.expand(3, 3).stride()}", ink=FAINT)
    return drawing


def graph() -> Drawing:
    """The graph behind a loss, as `grad_fn` and `next_functions` give it."""
    w, b = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    x, target = torch.tensor(3.0), torch.tensor(5.0)
    loss = (w * x + b - target).square()
    loss.backward()
    chain, node = [], loss.grad_fn
    while node is not None and node.next_functions:
        chain.append(type(node).__name__)
        node = node.next_functions[0][0]
    drawing = Drawing("The graph of a loss: forward to the left, gradients back to the right", 620, 190)
    drawing.text(
        20, 24, f"loss = (w * x + b - target)²     w = {w:g}, x = {x:g}, b = {b:g}, target = {target:g}"
    )
    for place, name in enumerate(chain):
        drawing.box(20 + place * 150, 60, name, fill=COOL, width=126)
        drawing.arrow((146 + place * 150, 77), (170 + place * 150, 77))
    last = 20 + len(chain) * 150
    for row, (name, leaf) in enumerate((("w", w), ("b", b))):
        drawing.text(last - 150 + row * -150, 130, f"leaf {name}.grad = {leaf.grad:g}", ink=INK)
        drawing.arrow((last - 90 + row * -150, 96), (last - 90 + row * -150, 118))
    drawing.text(
        20, 166, "loss.backward() walks the arrows; each node multiplies by its own slope", ink=FAINT
    )
    drawing.width = last + 20
    return drawing


def five_lines() -> Drawing:
    """The training step, with what each line leaves behind, of a real step."""
    torch.manual_seed(0)
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(2.0), model.bias.fill_(0.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.tensor([[1.0]]), torch.tensor([[1.0]])
    rows = []
    prediction = model(x)
    rows.append(("prediction = model(x)", f"{prediction.item():g}"))
    loss = torch.nn.functional.mse_loss(prediction, y)
    rows.append(("loss = mse_loss(prediction, y)", f"{loss.item():g}"))
    optimizer.zero_grad()
    rows.append(("optimizer.zero_grad()", f"weight.grad is {model.weight.grad}"))
    loss.backward()
    assert model.weight.grad is not None
    rows.append(("loss.backward()", f"weight.grad is {model.weight.grad.item():g}"))
    before = model.weight.item()
    optimizer.step()
    rows.append(("optimizer.step()", f"weight {before:g} → {model.weight.item():g}"))
    drawing = Drawing("The five lines of a training step, and what each leaves", 600, 250)
    for place, (line, left) in enumerate(rows):
        top = 20 + place * 42
        drawing.box(50, top, line, fill=(COOL, COOL, PAPER, WARM, WARM)[place], width=290)
        drawing.text(360, top + CELL / 2, left)
        if place:
            drawing.arrow((195, top - 8), (195, top))
    drawing.text(
        50,
        238,
        "for each batch anew; here: weight 2, bias 0, x = 1, y = 1, SGD with lr = 0.1",
        ink=FAINT,
        size=11,
    )
    return drawing


def precision() -> Drawing:
    """Bits for range and bits for digits, as finfo has them."""
    drawing = Drawing("Range and precision of the floating dtypes", 720, 190)
    names = ("float32", "float16", "bfloat16")
    for place, name in enumerate(names):
        info = torch.finfo(getattr(torch, name))
        fraction = round(-torch.log2(torch.tensor(info.eps, dtype=torch.float64)).item())
        exponent = info.bits - 1 - fraction
        top, unit = 24 + place * 52, 9
        drawing.text(20, top + CELL / 2, name)
        drawing.box(110, top, "±", width=16)
        drawing.box(126, top, str(exponent), fill=WARM, width=exponent * unit)
        drawing.box(126 + exponent * unit, top, str(fraction), fill=COOL, width=fraction * unit)
        told = f"up to {info.max:.3g}, steps of {info.eps:.2g} at 1"
        drawing.text(126 + 31 * unit + 12, top + CELL / 2, told, size=12)
    drawing.text(126, 178, "exponent: how far", ink=FAINT, size=12)
    drawing.text(290, 178, "fraction: how finely", ink=FAINT, size=12)
    return drawing


def ranks() -> Drawing:
    """Data parallelism: each rank its rows, one mean of gradients."""
    rows = torch.tensor([[1.0, 1.0], [3.0, 2.0]])  # x and target, a row for each rank
    weight = 2.0
    gradients = 2 * (weight * rows[:, 0] - rows[:, 1]) * rows[:, 0]
    mean = gradients.mean().item()
    drawing = Drawing(
        "Two ranks, each with its rows, take the same step by the mean of their gradients", 640, 200
    )
    for place, ((x, target), own) in enumerate(zip(rows.tolist(), gradients.tolist(), strict=True)):
        top = 30 + place * 90
        drawing.text(20, top + CELL / 2, f"rank {place}")
        drawing.box(90, top, f"x {x:g}, target {target:g}", fill=COOL, width=160)
        drawing.box(280, top, f"grad {own:g}", fill=WARM, width=90)
        drawing.arrow((250, top + CELL / 2), (280, top + CELL / 2))
        drawing.arrow((370, top + CELL / 2), (430, 92))
        drawing.arrow((500, 92), (540, top + CELL / 2))
        drawing.box(540, top, f"{weight:g} → {weight - 0.1 * mean:g}", width=90)
    drawing.box(430, 75, f"mean {mean:g}", fill=WARM, width=70)
    drawing.text(430, 60, "all_reduce", ink=FAINT, size=12)
    return drawing


def masks() -> Drawing:
    """Who sees whom: the past, a window of it, documents that share a row."""
    time, window = 6, 3
    document = torch.tensor([0, 0, 0, 1, 1, 2])
    t = torch.arange(time)
    back = t[:, None] - t
    past = back >= 0
    kinds = (
        ("back >= 0", "the past", past),
        (f"… & (back < {window})", f"a window of {window}", past & (back < window)),
        ("… & (document[:, None] == document)", "documents apart", past & (document[:, None] == document)),
    )
    drawing = Drawing("Three masks of attention: the past, a window of it, and documents apart", 720, 300)
    for place, (code, name, seen) in enumerate(kinds):
        left = 20 + place * (time * CELL + 32)
        drawing.text(left, 24, name)
        drawing.matrix(
            left,
            40,
            seen.int(),
            lambda i, j, seen=seen: COOL if seen[i, j] else PAPER,  # type: ignore[misc]
        )
        drawing.text(left, 58 + time * CELL, code, ink=FAINT, size=11 if place < 2 else 10)
    told = f"back = t[:, None] - t; document = {document.tolist()}; a row for each token that looks"
    drawing.text(20, 286, told, ink=FAINT, size=11)
    return drawing


def rotary_pairs() -> Drawing:
    """Which two features are turned together, and how far at position 1."""
    dim = 6
    speeds = 10_000.0 ** -(torch.arange(0, dim, 2) / dim)
    colours = (WARM, COOL, GREEN)
    features = torch.arange(dim)
    kinds = (
        ("neighbours: the paper, Meta's code", features.unflatten(0, (dim // 2, 2))),
        ("halves: Hugging Face", features.unflatten(0, (2, dim // 2)).T),
    )
    drawing = Drawing("Rotary pairs: neighbours or halves, each pair turned at its own speed", 640, 270)
    for place, (name, pairs) in enumerate(kinds):
        left = 20 + place * 320
        drawing.text(left, 24, name)
        of = {feature: pair for pair, two in enumerate(pairs.tolist()) for feature in two}
        for feature in range(dim):
            drawing.box(left + feature * CELL, 90, str(feature), fill=colours[of[feature]])
        for first, second in pairs.tolist():
            start, end = (left + (f + 0.5) * CELL for f in (first, second))
            drawing.arrow((start, 90), (end, 90), bend=-18 * (second - first))
        for pair, speed in enumerate(speeds.tolist()):
            told = f"{pairs[pair].tolist()} turn by {speed:.4f} · position"
            drawing.box(left, 140 + pair * 40, "", fill=colours[pair], width=12)
            drawing.text(left + 20, 140 + pair * 40 + CELL / 2, told, size=12)
    return drawing


def cache_pages() -> Drawing:
    """Two texts with one beginning, in blocks of a cache that lie anywhere."""
    words = ("the", "cat", "sat", "on", "my", "old", "mat", "a", "red", "sofa", "all", "day")
    texts = {"first": ([1, 3], [0, 1, 2, 3, 4, 5, 6]), "second": ([1, 0, 4], [0, 1, 2, 3, 7, 8, 9, 10, 11])}
    size = 4
    pool = torch.full((5, size), -1)  # a token in each slot; -1 is empty
    for table, tokens in texts.values():
        for number, token in enumerate(tokens):
            pool[table[number // size], number % size] = token
    drawing = Drawing("A paged cache: tables say in which blocks the keys of a text lie", 660, 290)
    drawing.text(20, 24, "a table for each text")
    drawing.text(330, 24, f"{len(pool)} blocks of {size} slots, one tensor")
    for block, slots in enumerate(pool.tolist()):
        owners = sum(block in table for table, _ in texts.values())
        drawing.text(318, 40 + block * 40 + CELL / 2, str(block), at="end", ink=FAINT)
        for slot, token in enumerate(slots):
            fill = PAPER if token < 0 else GREEN if owners > 1 else COOL
            drawing.box(
                330 + slot * 76, 40 + block * 40, words[token] if token >= 0 else "", fill=fill, width=76
            )
    for row, (name, (table, tokens)) in enumerate(texts.items()):
        top = 50 + row * 90
        assert pool[table].flatten()[: len(tokens)].tolist() == tokens
        drawing.text(20, top + CELL / 2, name)
        for place, block in enumerate(table):
            fill = GREEN if all(block in other for other, _ in texts.values()) else COOL
            drawing.box(90 + place * CELL, top, str(block), fill=fill)
        last = len(tokens) - 1
        told = f"token {last}: block {table[last // size]}, slot {last % size}"
        drawing.text(20, top + CELL + 14, told, ink=FAINT, size=12)
    told = f"all keys of the second: pool[{texts['second'][0]}].flatten()[:{len(texts['second'][1])}]"
    drawing.text(20, 266, told, ink=FAINT, size=12)
    return drawing


def experts() -> Drawing:
    """Each token goes to two experts, and each expert sees its tokens alone."""
    scores = torch.tensor(
        [[2.0, 0.5, 1.0, -1.0], [0.0, 1.5, -0.5, 1.5], [1.0, 0.0, 2.0, 0.5], [2.5, 1.0, 0.5, 0.0]]
    )
    found = scores.topk(2, dim=1)
    shares = torch.zeros_like(scores).scatter(1, found.indices, found.values.softmax(1))
    drawing = Drawing("Routing: each token goes to two experts, each expert gets its tokens", 740, 230)
    drawing.text(20, 24, "scores of the router")
    drawing.text(270, 24, "shares of the best two")
    drawing.text(520, 24, "what each expert gets")
    chosen = shares > 0
    for left, values in ((60, scores), (290, shares)):
        for token, row in enumerate(values.tolist()):
            drawing.text(left - 8, 40 + (token + 0.5) * CELL, str(token), at="end", ink=FAINT)
            for expert, value in enumerate(row):
                fill = COOL if chosen[token, expert] else PAPER
                words = f"{value:.2f}".rstrip("0").rstrip(".") if left == 60 or value else ""
                drawing.box(left + expert * 46, 40 + token * CELL, words, fill=fill, width=46)
    for expert in range(4):
        tokens = chosen[:, expert].nonzero().flatten().tolist()
        drawing.text(520, 40 + (expert + 0.5) * CELL, f"expert {expert}: tokens {tokens}", size=12)
    drawing.text(
        20, 206, f"tokens for each expert: {chosen.sum(0).tolist()}; each runs once, on its own", ink=FAINT
    )
    return drawing


PICTURES: Sequence[Callable[[], Drawing]] = (
    *(strides, broadcasting, graph, five_lines, precision, ranks),
    *(masks, rotary_pairs, cache_pages, experts),
)

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for draw in PICTURES:
        (HERE / f"{draw.__name__}.svg").write_text(draw().svg(), "utf-8")
