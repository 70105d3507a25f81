"""What grades out_of_memory: the bytes of each part alone, and that its numbers stay as they are."""

import inspect

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from grader.checks import expect_close, expect_number, expect_that, held_bytes, marked, peak_bytes

WORDS, WIDTH, TIME = 11, 4, 6


class Table(nn.Module):
    """A model that looks at one word alone, and holds `wide` numbers for it until backward, `deep` times."""

    def __init__(self, gen, wide=1, deep=1):
        super().__init__()
        self.token = nn.Embedding(WORDS, WIDTH, _weight=torch.randn(WORDS, WIDTH, generator=gen))
        self.register_buffer("there", torch.randn(WIDTH, wide, generator=gen))
        self.wide, self.deep, self.outputs, self.marks, self.modes = wide, deep, None, None, []

    def forward(self, ids):
        x = self.token(ids)
        self.modes.append(self.training)
        if self.wide > 1:
            y = x @ self.there
            for _ in range(self.deep):
                y = y.tanh()
            x = x + y.sum(dim=-1, keepdim=True) / self.wide
        if self.marks is not None:
            x, mark = marked(x)
            self.marks.append(mark)
        if self.outputs is not None:
            self.outputs.append(x)
        return x


class Rows:
    """Texts that are there already."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def batch(self, rows):
        return self.rows[rows]


def texts(gen, size, time=TIME):
    return torch.randint(WORDS, (size, time + 1), generator=gen)


def sgd(model):
    return torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)


def decoder(answer, gen, *sizes, dropout=0.0):
    """A model with weights that are not small; `sizes` are words, width, heads, layers, frozen, time."""
    model = answer.model.Decoder(*sizes, dropout)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(0.3 * torch.randn(p.shape, generator=gen))
    return model


def plain_loss(model, rows):
    """The mean loss of a Table, written out."""
    logits = model.token(rows[:, :-1]) @ model.token.weight.T
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def in_kb(*sizes):
    return ", ".join(f"{size / 1000:.1f} kB" for size in sizes)


def expect_flat(small, large, what, times, at_most=1.4):
    """The bytes of a large case are hardly more than those of a small one."""
    facts = {"yours": in_kb(small, large), "wanted": f"at most {at_most} times as much"}
    expect_that(
        large <= at_most * small, f"{what}: {large / small:.1f} times the memory", **facts, sizes=times
    )


def test_what_a_step_leaves(answer, gen):
    """What a step returns holds on to the graphs of its losses."""
    model = Table(gen)
    model.marks = []
    kept = [answer.train.train_step(model, sgd(model), [texts(gen, 2), texts(gen, 2)]) for _ in range(3)]
    alive = sum(mark() is not None for mark in model.marks)
    what = f"as long as the losses of {len(kept)} steps are kept, {alive} graphs are held"
    expect_that(alive == 0, what, yours=kept[0], wanted="none")


def test_behind_backward(answer, gen):
    """What a part has saved for its backward is still held when the backward is done."""
    model = Table(gen, wide=8000)
    model.outputs = []
    held = held_bytes(lambda: answer.train.train_step(model, sgd(model), [texts(gen, 2)]))
    saved = 2 * TIME * model.wide * 4
    what = f"of {in_kb(saved)} that were saved for the backward, {in_kb(held)} are held after its backward"
    expect_that(held < saved / 4, what)


def test_many_parts(answer, gen):
    """The more parts a step has, the more memory it takes at once."""
    model, peaks = Table(gen, wide=3000), []
    for number in (2, 6):
        parts = [texts(gen, 2) for _ in range(number)]
        peaks.append(peak_bytes(lambda parts=parts: answer.train.train_step(model, sgd(model), parts)))
    expect_flat(*peaks, "a step of more parts takes more memory", "2 and 6 parts of 2 texts each")


def test_short_part(answer, gen):
    """A text in a short part counts more than one in a long part."""
    model, parts = Table(gen), [texts(gen, size) for size in (4, 1, 2)]
    loss = plain_loss(model, torch.cat(parts))
    wanted = model.token.weight.detach() - 0.5 * torch.autograd.grad(loss, model.token.weight)[0]
    yours = answer.train.train_step(model, sgd(model), parts)
    what = "texts of a step do not count alike"
    expect_number(float(yours), loss.item(), f"{what}: the loss of a step of 4, 1 and 2 texts", rtol=1e-4)
    far = (model.token.weight - wanted).abs().max().item()
    expect_that(far < 1e-4, f"{what}: the weights after a step of 4, 1 and 2 texts", difference=round(far, 4))


def test_between_steps(answer, gen):
    """Memory of gradients is held between two steps."""
    model = Table(gen)
    for number in (1, 2):
        answer.train.train_step(model, sgd(model), [texts(gen, 2)])
        held = sum(p.grad.nbytes for p in model.parameters() if p.grad is not None)
        expect_that(held == 0, f"after step {number}, {held} bytes of gradients are held", wanted="none")


def test_evaluation_of_depth(answer, gen):
    """An evaluation takes the more memory, the more layers there are, as if it were to learn."""
    rows, peaks = Rows(texts(gen, 4)), []
    for deep in (3, 12):
        model = Table(gen, wide=3000, deep=deep)
        peaks.append(peak_bytes(lambda model=model: answer.train.evaluate(model, rows, 2)))
    expect_flat(*peaks, "an evaluation of more layers takes more memory", "3 and 12 layers")


def test_held_until_backward(answer, gen):
    """Until backward much more is held of each block that learns than what goes into it."""
    model = decoder(answer, gen, WORDS, 32, 2, 4, 0, 64).train()
    ids = torch.randint(WORDS, (4, 64), generator=gen)
    held, one = held_bytes(lambda: model(ids)), 4 * 64 * 32 * 4
    facts = {"yours": in_kb(held), "wanted": f"at most {in_kb(9 * one)}"}
    what = f"of 4 blocks that learn, with inputs of {in_kb(one)}, too much is held until backward"
    expect_that(held <= 9 * one, what, **facts)


def test_second_run(answer, gen):
    """With dropout, backward goes back through other elements than forward has dropped."""
    x = torch.randn(200, generator=gen).requires_grad_()
    y = answer.model.recomputed(lambda x: F.dropout(x.tanh(), 0.5).sinh(), x)
    y.sum().backward()
    forward, backward = (y != 0), (x.grad != 0)
    wrong = int((forward != backward).sum())
    expect_that(wrong == 0, f"{wrong} of 200 elements are dropped in forward or in backward, not in both")


def test_what_learns(answer, gen):
    """What is frozen gets gradients, and moments in the optimizer."""
    model, rows = decoder(answer, gen, WORDS, 8, 2, 3, 2, TIME), texts(gen, 2)
    answer.loss.loss_of(model, rows).backward()
    learns = [name for name, p in model.named_parameters() if p.grad is not None]
    frozen = [name for name in learns if not name.startswith(("blocks.2.", "norm."))]
    what = "what the README calls frozen gets gradients, and with them moments in the optimizer"
    expect_that(not frozen, what, yours=frozen)
    count = len(list(model.blocks[2].parameters())) + 2
    expect_that(len(learns) == count, "a block that is not frozen does not learn", yours=learns)


def test_long_texts(answer, gen):
    """A text of four times the length takes much more than four times the memory of attention."""
    layer, peaks = answer.model.Attention(16, 4), []
    for time in (128, 512):
        x = torch.randn(1, time, 16, generator=gen)
        with torch.no_grad():
            peaks.append(peak_bytes(lambda x=x: layer(x)))
    what = "attention takes memory for all pairs of places"
    expect_flat(*peaks, what, "128 and 512 places", at_most=6)


def test_what_is_noted(answer, gen):
    """What is noted of the blocks keeps their outputs in memory."""
    model = nn.Module()
    model.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
    activity, x = answer.watch.Activity(model), torch.randn(100, 8, generator=gen)
    held = held_bytes(lambda: [block(x).sum().item() for block in model.blocks])
    what = f"after 3 blocks with outputs of {in_kb(x.nbytes)}, their outputs are held"
    expect_that(held < x.nbytes / 2, what, yours=in_kb(held))
    wanted = [block(x).abs().mean().item() for block in model.blocks]
    for number, (yours, size) in enumerate(zip(activity.report(), wanted, strict=True)):
        expect_number(float(yours), size, f"report()[{number}]", rtol=1e-4)


def test_epochs(answer, gen):
    """After an epoch, the batches that were asked for are still in memory."""
    ids = torch.randint(WORDS, (50 * (TIME + 1),), generator=gen).short()
    kept = answer.data.Texts(ids, TIME)
    held = held_bytes(lambda: [kept.batch(rows).sum().item() for rows in torch.arange(50).split(5)])
    what = f"after all texts were asked for, {in_kb(held)} are held"
    expect_that(held < 1000, what, texts=in_kb(ids.nbytes), wanted="nothing but the texts")


def test_large_vocabulary(answer, gen):
    """The targets of a large vocabulary take more memory than its logits."""
    hidden, table = torch.randn(2, 8, WIDTH, generator=gen), torch.randn(3000, WIDTH, generator=gen)
    targets, logits = torch.randint(3000, (2, 8), generator=gen), 16 * 3000 * 4
    with torch.no_grad():
        used = peak_bytes(lambda: answer.loss.language_loss(hidden, table, targets, 16)) / logits
    what = "the loss of one piece takes too much memory beside its logits"
    expect_that(used < 3.5, what, yours=f"{used:.1f} times the logits", wanted="at most 3 times")


def test_many_places(answer, gen):
    """The loss of more texts takes more memory at once."""
    table, peaks = torch.randn(2000, WIDTH, generator=gen), []
    for size in (2, 16):
        hidden = torch.randn(size, 8, WIDTH, generator=gen)
        targets = torch.randint(2000, (size, 8), generator=gen)
        with torch.no_grad():
            peaks.append(peak_bytes(lambda h=hidden, t=targets: answer.loss.language_loss(h, table, t, 16)))
    what = "the loss of more places takes more memory, though pieces have 16 places"
    expect_flat(*peaks, what, "16 and 128 places")


SIGNATURES = {
    "model.recomputed": "fn args",
    "model.Attention": "width heads",
    "model.Block": "width heads dropout",
    "model.Decoder": "words width heads layers frozen time dropout",
    "loss.piece_loss": "hidden table targets",
    "loss.language_loss": "hidden table targets piece",
    "loss.loss_of": "model rows",
    "data.make": "size time seed",
    "data.Texts": "ids time",
    "watch.Activity": "model",
    "train.train_step": "model optimizer parts",
    "train.evaluate": "model texts size",
    "train.train": "steps seed say",
}
BLOCK = {
    "norm1.weight": (8,),
    "norm1.bias": (8,),
    "norm2.weight": (8,),
    "norm2.bias": (8,),
    "attention.qkv.weight": (24, 8),
    "attention.proj.weight": (8, 8),
    "up.weight": (32, 8),
    "up.bias": (32,),
    "down.weight": (8, 32),
    "down.bias": (8,),
}


def test_signatures(answer):
    """Names, parameters and signatures stay, so that old checkpoints are loaded."""
    for name, wanted in SIGNATURES.items():
        file, function = name.split(".")
        yours = " ".join(inspect.signature(getattr(getattr(answer, file), function)).parameters)
        expect_that(yours == wanted, f"the signature of {name} has changed", yours=yours, wanted=wanted)
    wanted = {"token.weight": (11, 8), "position.weight": (6, 8), "norm.weight": (8,), "norm.bias": (8,)}
    wanted |= {f"blocks.{number}.{name}": shape for number in (0, 1) for name, shape in BLOCK.items()}
    state = answer.model.Decoder(11, 8, 2, 2, 1, 6).state_dict()
    yours = {name: tuple(value.shape) for name, value in state.items()}
    expect_that(yours == wanted, "the names or shapes of Decoder's state_dict have changed", yours=yours)


def test_causal(answer, gen):
    """A place sees itself and what comes before it."""
    layer, x = answer.model.Attention(8, 2), torch.randn(2, 5, 8, generator=gen)
    q, k, v = (
        part.view(2, 5, 2, 4).transpose(1, 2) for part in F.linear(x, layer.qkv.weight).chunk(3, dim=-1)
    )
    later = torch.ones(5, 5, dtype=torch.bool).triu(diagonal=1)
    weights = (q @ k.transpose(-2, -1) / 2).masked_fill(later, -torch.inf).softmax(dim=-1)
    wanted = F.linear((weights @ v).transpose(1, 2).flatten(2), layer.proj.weight)
    expect_close(layer(x).detach(), wanted.detach(), "Attention(8, 2)(x)", ulps=1000)


def test_pieces(answer, gen):
    """The loss and its gradients are those of all places together, also where the last piece is short."""
    hidden, table = torch.randn(2, 7, WIDTH, generator=gen), torch.randn(WORDS, WIDTH, generator=gen)
    targets = torch.randint(WORDS, (2, 7), generator=gen)
    found = []
    for loss_fn in (
        lambda h, t: F.cross_entropy((h @ t.T).flatten(0, 1), targets.flatten()),
        lambda h, t: answer.loss.language_loss(h, t, targets, 5),
    ):
        h, t = (x.clone().requires_grad_() for x in (hidden, table))
        loss = loss_fn(h, t)
        found.append((loss.detach(), *torch.autograd.grad(loss, (h, t))))
    for name, wanted, yours in zip(("the loss", "its gradient", "the table's gradient"), *found, strict=True):
        expect_close(
            yours, wanted, f"{name} of language_loss(hidden, table, targets, 5), 14 places", ulps=1000
        )


def test_evaluation(answer, gen):
    """An evaluation gives the mean loss of all texts, in evaluation mode, and training goes on."""
    model, rows = Table(gen), texts(gen, 7)
    loss = answer.train.evaluate(model, Rows(rows), 3)
    wanted = plain_loss(model, rows).item()
    expect_number(float(loss), wanted, "evaluate(model, texts, 3), of 7 texts", rtol=1e-4)
    expect_that(not any(model.modes), "evaluate runs the model in training mode")
    expect_that(model.training, "after evaluate the model is no longer in training mode")


@pytest.mark.fine
def test_runs(answer, gen):
    """A step runs what is frozen once, and what learns twice."""
    model, runs = decoder(answer, gen, WORDS, 8, 2, 3, 1, TIME), [0, 0, 0]
    for number, block in enumerate(model.blocks):

        def count(*_, number=number):
            runs[number] += 1

        block.norm1.register_forward_hook(count)
    answer.loss.loss_of(model, texts(gen, 2)).backward()
    most = "a block runs more often than it has to"
    expect_that(runs[0] <= 1 and max(runs) <= 2, most, yours=runs, wanted=[1, 2, 2])


@pytest.mark.fine
def test_evaluation_of_many(answer, gen):
    """An evaluation of more texts takes no more memory."""
    model, peaks = Table(gen), []
    for size in (6, 60):
        rows = Rows(texts(gen, size, time=300))
        peaks.append(peak_bytes(lambda rows=rows: answer.train.evaluate(model, rows, 3)))
    expect_flat(*peaks, "an evaluation of more texts takes more memory", "6 and 60 texts", at_most=1.6)


def oracle(answer, gen):
    sizes = (WORDS, 8, 2, 3, 1, TIME)

    def hidden(gen):
        """What a small model gives for texts of three lengths."""
        model, ids = decoder(answer, gen, *sizes).eval(), texts(gen, 3)
        with torch.no_grad():
            return [model(ids[:, :time]) / 8 for time in (2, 4, TIME)]

    def losses(gen):
        """Those of four steps of a small model, and of an evaluation."""
        model = decoder(answer, gen, *sizes)
        optimizer = sgd(model)
        found = []
        for _ in range(4):
            parts = [texts(gen, size) for size in (3, 3, 2)]
            found.append(float(answer.train.train_step(model, optimizer, parts)))
        return [*found, float(answer.train.evaluate(model, Rows(texts(gen, 5)), 2))]

    def gradients(gen):
        h = torch.randn(3, 7, WIDTH, generator=gen, requires_grad=True)
        table, targets = torch.randn(WORDS, WIDTH, generator=gen), torch.randint(WORDS, (3, 7), generator=gen)
        return torch.autograd.grad(answer.loss.language_loss(h, table, targets, 4), h)[0]

    def batches(gen):
        ids = torch.randint(1000, (70,), generator=gen).short()
        kept = answer.data.Texts(ids, TIME)
        return [kept.batch(torch.randperm(10, generator=gen)[:3]) for _ in range(2)]

    return {
        "what a small model gives": hidden,
        "the losses of four steps, and of an evaluation": losses,
        "the gradient of a loss": gradients,
        "batches of texts": batches,
    }
