"""What grades broken_gpt: data, model, optimizer, evaluation and sampling, each part alone."""

import inspect
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from grader.checks import expect_that

LETTERS, WIDTH, BLOCK = 7, 8, 6


class Table(nn.Module):
    """A model that looks at one letter alone: a row of logits for each. It notes how it is called."""

    block = BLOCK

    def __init__(self, table, scale=1.0):
        super().__init__()
        self.table, self.scale, self.calls = nn.Parameter(table), scale, []

    def forward(self, ids):
        self.calls.append((ids.clone(), self.training, torch.is_grad_enabled()))
        return self.scale * self.table[ids]


def next_in_line():
    """Says that letter 4 follows letter 3, and so on."""
    return Table(100.0 * torch.eye(LETTERS).roll(1, dims=1))


def gpt(answer, gen, heads=2, layers=1, dropout=0.0):
    """A small model with weights that are not small."""
    model = answer.model.GPT(LETTERS, WIDTH, heads, layers, BLOCK, dropout)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=gen))
    return model


def attention(answer, heads, q, k, v):
    """An attention that hands on what the heads say; q, k and v are its three matrices."""
    layer = answer.model.Attention(len(q), heads, 0.0)
    with torch.no_grad():
        layer.qkv.weight.copy_(torch.cat([q, k, v]))
        layer.proj.weight.copy_(torch.eye(len(q)))
    return layer


def in_short(numbers):
    return [round(number, 3) for number in numbers.tolist()]


def some_text(gen, size=3, time=BLOCK):
    return torch.randint(LETTERS, (size, time), generator=gen)


def test_what_comes_next(answer, gen):
    """The target at each place is the letter that comes next in the text."""
    ids = torch.arange(40)
    for name, (x, y) in {
        "batch(ids, 5, 4, gen)": answer.data.batch(ids, 5, 4, gen),
        "windows(ids, starts, 5)": answer.data.windows(ids, torch.tensor([0, 9, 34]), 5),
    }.items():
        what = f"{name}: the targets are not what comes next to each letter (ids are 0, 1, 2, …)"
        expect_that(torch.equal(y, x + 1), what, inputs=x[0].tolist(), targets=y[0].tolist())
    whole = torch.equal(x, torch.tensor([[0], [9], [34]]) + torch.arange(5))
    expect_that(whole, "windows(ids, starts, 5) gives other pieces of the text", yours=x)


def test_held_out_text(answer):
    """No letter of the text that is held out was learned from."""
    ids = torch.arange(200)
    learned, held_out = answer.data.split(ids, 0.8)
    both = len(set(learned.tolist()) & set(held_out.tolist()))
    what = f"{both} of {len(held_out)} places that are held out are also among those learned"
    expect_that(both == 0, what, sizes=f"{len(learned)} and {len(held_out)} of 200")
    wanted = torch.equal(learned, ids[:160]) and torch.equal(held_out, ids[160:])
    expect_that(wanted, "split(ids, 0.8) is not the first 8 tenths and the rest")


def test_later_letters(answer, gen):
    """A letter that comes later changes nothing of what is predicted before it."""
    model, text = gpt(answer, gen, heads=1), some_text(gen)
    with torch.no_grad():
        model.blocks[0].attention.qkv.weight[: 2 * WIDTH] = 0.0  # all that is seen counts alike
        for place in range(1, BLOCK):
            other = text.clone()
            other[:, place] = (text[:, place] + 1) % LETTERS
            far = (model(text) - model(other)).abs().amax(dim=(0, 2))
            what = f"another letter at place {place}, which comes later, changes the logits before it"
            same = bool((far[:place] < 1e-4).all())
            expect_that(same, what, differences_by_place=[round(d, 4) for d in far.tolist()])


def test_size_of_scores(answer, gen):
    """A head gives the same, alone or beside others, and with features that come twice."""
    q, k, v = torch.randn(3, 4, 4, generator=gen)
    x = torch.randn(2, 5, 4, generator=gen)
    doubled = [torch.block_diag(part, part) for part in (q, k, v)]
    root = 2**-0.25
    wide = [root * doubled[0], root * doubled[1], doubled[2]]
    with torch.no_grad():
        alone = attention(answer, 1, q, k, v)(x)
        wanted = torch.cat([alone, alone], dim=-1).flatten().sort()[0]
        for heads, parts, case in (
            (2, doubled, "a head gives something else as soon as there are more heads of the same kind"),
            (1, wide, "a head with 8 features gives something else than one with 4 that says the same"),
        ):
            yours = attention(answer, heads, *parts)(torch.cat([x, x], dim=-1)).flatten().sort()[0]
            far = (yours - wanted).abs().max().item()
            expect_that(far < 1e-4, case, difference=round(far, 4), largest=round(wanted.max().item(), 4))


def test_same_values(answer, gen):
    """Where all places say the same, attention says it, too: each place shares out a whole."""
    value = torch.tensor([0.5, -1.0, 2.0, 3.0])
    v = torch.zeros(4, 4)
    v[:, 3] = value
    q, k = torch.randn(2, 4, 4, generator=gen)
    x = torch.randn(2, 5, 4, generator=gen)
    x[..., 3] = 1.0
    yours = attention(answer, 1, q, k, v)(x).detach()
    what = "all places have the same value, and what attention makes of it is not the same"
    expect_that(
        torch.allclose(yours, value.expand_as(yours), atol=1e-4),
        what,
        yours=in_short(yours[0, -1]),
        wanted=in_short(value),
    )


def test_silent_head(answer, gen):
    """Where one head has nothing but zeros, its part of the features stays zero."""
    q, k = torch.randn(2, 4, 4, generator=gen)
    x = torch.randn(2, 5, 4, generator=gen)
    x[..., 2:] = 0.0
    yours = attention(answer, 2, q, k, torch.eye(4))(x).detach()
    what = "features 2 and 3 belong to a head that says 0 everywhere, and hold what the other head says"
    expect_that(bool((yours[..., 2:] == 0).all()), what, at_the_first_place=in_short(yours[0, 0]))
    told = bool((yours[..., :2].abs().amax(dim=(1, 2)) > 0).all())
    expect_that(told, "nothing comes from a head that has something to say")


def test_short_texts(answer, gen):
    """A shorter text gets the logits that it has as the beginning of a longer one."""
    model, text = gpt(answer, gen, layers=0), some_text(gen)
    with torch.no_grad():
        whole = model(text)
        for time in (1, 2, 4):
            far = (model(text[:, :time]) - whole[:, :time]).abs().max().item()
            what = f"a text that is shorter ({time} of {BLOCK} letters) gets other logits than in a long one"
            expect_that(far < 1e-4, what, difference=round(far, 4))
        same = model(torch.full((1, BLOCK), 3))[0]
        apart = all(not torch.allclose(same[0], other) for other in same[1:])
        expect_that(apart, "the same letter at two places gives the same logits without any attention")


def test_block_that_adds_nothing(answer, gen):
    """A block whose attention and MLP add zero hands on what it is given."""
    block = answer.model.Block(WIDTH, 2, 0.0)
    for layer in (block.attention.proj, block.down):
        for parameter in layer.parameters():
            nn.init.zeros_(parameter)
    x = 3.0 + 2.0 * torch.randn(2, 5, WIDTH, generator=gen)
    far = (block(x) - x).abs().max().item()
    what = "a block whose two parts say 0 adds nothing, and yet something else comes out than went in"
    expect_that(far < 1e-5, what, difference=round(far, 4))


def test_one_table(answer, gen):
    """What the embedding learns, the head knows: both are one table."""
    model, text = answer.model.GPT(LETTERS, WIDTH, 2, 0, BLOCK), some_text(gen)
    with torch.no_grad():
        model.token.weight.add_(torch.randn(LETTERS, WIDTH, generator=gen))
        table = model.token.weight
        wanted = F.layer_norm(table[text] + model.position.weight, (WIDTH,)) @ table.T
        far = (model(text) - wanted).abs().max().item()
    what = "the embedding has changed, and the head works with other numbers"
    expect_that(far < 1e-4, what, difference_of_logits=round(far, 4))


def test_same_twice(answer, gen):
    """In evaluation mode the same text has the same logits each time, and in training it has not."""
    model, text = gpt(answer, gen, dropout=0.5), some_text(gen)
    with torch.no_grad():
        model.eval()
        far = (model(text) - model(text)).abs().max().item()
        expect_that(far == 0, "two calls in evaluation mode differ", difference=round(far, 4))
        model.train()
        expect_that(not model(text).equal(model(text)), "dropout drops nothing in training mode")


def test_warm_up(answer):
    """The rate climbs to its peak within the warm-up, then falls along half a cosine."""
    steps, peak, warmup = 40, 0.5, 4
    yours = [answer.optim.rate(step, steps, peak, warmup) for step in range(steps)]
    line = [peak * part / 4 for part in (1, 2, 3, 4)]
    near = all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(yours, line, strict=False))
    what = "rates of a warm-up of 4 steps, in a run of 40, do not climb to the peak of 0.5"
    expect_that(near, what, yours=[round(r, 4) for r in yours[:6]], wanted=line)
    curve = [peak * 0.5 * (1 + math.cos(math.pi * step / 36)) for step in range(36)]
    near = all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(yours[4:], curve, strict=True))
    what = "rates behind the warm-up do not fall along half a cosine"
    expect_that(near, what, yours=[round(r, 4) for r in yours[4:10]], wanted=[round(r, 4) for r in curve[:6]])


def test_what_is_decayed(answer):
    """Weight decay draws on matrices and tables, and on no norm and no bias."""
    model = answer.model.GPT(LETTERS, WIDTH, 2, 1, BLOCK)
    found = answer.optim.groups(model, 0.3)
    every = [(parameter, group["weight_decay"]) for group in found for parameter in group["params"]]
    for name, parameter in model.named_parameters():
        decays, wanted = [d for p, d in every if p is parameter], 0.3 if parameter.dim() > 1 else 0.0
        expect_that(
            decays == [wanted], f"groups(model, 0.3): the decay of {name}", yours=decays, wanted=[wanted]
        )


def test_second_step(answer, gen):
    """A second step follows its own batch alone."""
    start = torch.randn(LETTERS, LETTERS, generator=gen)
    model, wanted = Table(start.clone()), nn.Parameter(start.clone())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    for step in ("first", "second", "third"):
        x, y = some_text(gen), some_text(gen)
        gradient = torch.autograd.grad(F.cross_entropy(wanted[x].flatten(0, 1), y.flatten()), wanted)[0]
        wanted.data -= 0.5 * gradient * min(1.0, 1.0 / gradient.norm().item())
        answer.train.train_step(model, optimizer, x, y, 0.5)
        far = (model.table - wanted).abs().max().item()
        what = f"after the {step} step the weights are not where its own batch leads"
        expect_that(far < 1e-4, what, difference=round(far, 4))


def test_last_letter(answer, gen):
    """What is drawn follows the last letter of the text."""
    text = torch.tensor([[0, 3], [5, 1]])
    yours = answer.sample.generate(next_in_line(), text, 3, gen).tolist()
    wanted = [[0, 3, 4, 5, 6], [5, 1, 2, 3, 4]]
    what = "drawn from a model that says '4 behind 3', a text does not follow its last letter"
    expect_that(yours == wanted, what, yours=yours, wanted=wanted)


SIGNATURES = {
    "data.corpus": "sentences",
    "data.encode": "text",
    "data.decode": "ids",
    "data.split": "ids share",
    "data.windows": "ids starts block",
    "data.batch": "ids block size gen",
    "model.Attention": "width heads dropout",
    "model.Block": "width heads dropout",
    "model.GPT": "letters width heads layers block dropout",
    "optim.groups": "model decay",
    "optim.rate": "step steps peak warmup",
    "sample.generate": "model ids number gen temperature",
    "train.train_step": "model optimizer x y lr",
    "train.evaluate": "model ids block",
    "train.train": "steps seed say",
}
BLOCK_PARAMETERS = {
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
    wanted = {"token.weight": (7, 8), "position.weight": (6, 8), "norm.weight": (8,), "norm.bias": (8,)}
    wanted |= {f"blocks.0.{name}": shape for name, shape in BLOCK_PARAMETERS.items()}
    wanted["head.weight"] = (7, 8)
    state = answer.model.GPT(LETTERS, WIDTH, 2, 1, BLOCK).state_dict()
    yours = {name: tuple(value.shape) for name, value in state.items()}
    expect_that(yours == wanted, "the names or shapes of GPT's state_dict have changed", yours=yours)


def test_modes(answer):
    """The evaluation runs in evaluation mode, and the training goes on in training mode."""
    model = next_in_line()
    loss = answer.train.evaluate(model, torch.arange(LETTERS).repeat(4), BLOCK)
    expect_that(isinstance(loss, float), "evaluate returns no float", yours=loss)
    expect_that(not any(mode for _, mode, _ in model.calls), "evaluate runs the model in training mode")
    expect_that(model.training, "after evaluate the model is no longer in training mode")


def test_long_texts(answer, gen):
    """Of a text that is longer than the block, the model sees the last letters."""
    model, text = Table(torch.zeros(LETTERS, LETTERS)), some_text(gen, time=BLOCK + 3)
    yours = answer.sample.generate(model, text, 4, gen)
    for number, (seen, *_) in enumerate(model.calls):
        wanted = yours[:, : BLOCK + 3 + number][:, -BLOCK:]
        what = f"a text of {BLOCK + 3 + number} letters is longer than the block, and its end is not seen"
        expect_that(torch.equal(seen, wanted), what, seen=seen[0].tolist(), wanted=wanted[0].tolist())


def test_clipping(answer, gen):
    """No step goes further than the clipped gradient leads."""
    model, x, y = Table(torch.zeros(LETTERS, LETTERS), 1000.0), some_text(gen), some_text(gen)
    before = model.table.detach().clone()
    answer.train.train_step(model, torch.optim.SGD(model.parameters(), lr=1.0), x, y, 1.0)
    moved = (model.table - before).norm().item()
    expect_that(moved < 1.001, "a gradient of a norm over 1 is not clipped to 1", length_of_step=moved)


@pytest.mark.fine
def test_one_run_a_letter(answer, gen):
    """Sampling runs the model once for each new letter, for all texts together."""
    model, text = next_in_line(), some_text(gen, time=2)
    answer.sample.generate(model, text, 5, gen)
    what = "generate has other than 5 runs of the model for 5 letters of 3 texts"
    expect_that(len(model.calls) == 5, what, runs=len(model.calls))


@pytest.mark.fine
def test_no_graph(answer):
    """The evaluation keeps nothing for a backward."""
    model = next_in_line()
    answer.train.evaluate(model, torch.arange(LETTERS).repeat(4), BLOCK)
    expect_that(not any(on for *_, on in model.calls), "evaluate builds a graph for a backward")


def oracle(answer, gen):
    def logits(gen):
        """Those of a small model, for texts of three lengths."""
        model, text = gpt(answer, gen, layers=2), some_text(gen)
        with torch.no_grad():
            return [model(text[:, :time]) / WIDTH for time in (2, 4, BLOCK)]

    def losses(gen):
        """Those of four steps of a small model, with the rates of a short run."""
        model = gpt(answer, gen).train()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(0.3)
        optimizer = torch.optim.SGD(answer.optim.groups(model, 0.1), lr=0.0)
        ids = torch.randint(LETTERS, (60,), generator=gen)
        found = []
        for step in range(4):
            x, y = answer.data.batch(ids, BLOCK, 4, gen)
            found.append(answer.train.train_step(model, optimizer, x, y, answer.optim.rate(step, 4, 0.1, 2)))
        return [*found, answer.train.evaluate(model, ids, BLOCK)]

    def pieces(gen):
        ids = torch.randint(1000, (90,), generator=gen)
        learned, held_out = answer.data.split(ids, 0.7)
        return [learned, held_out, *answer.data.windows(held_out, torch.tensor([0, 5]), 4)]

    def text(gen):
        model = Table(30.0 * torch.randn(LETTERS, LETTERS, generator=gen))
        return answer.sample.generate(model, some_text(gen, size=8), 10, gen)

    return {
        "the logits of a small model": logits,
        "the losses of four steps, and what an evaluation gives": losses,
        "pieces of a text": pieces,
        "what is drawn": text,
    }
