"""What grades scaling_init: first weights, learning rates, all widths; biases, parameters in place."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_that


class Block(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width, bias=bias)
        self.down = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


class Net(nn.Module):
    """A model like that of the statement: its parts are registered in another order."""

    def __init__(self, vocab, width, depth=2, bias=True):
        super().__init__()
        self.head = nn.Linear(width, vocab, bias=bias)
        self.hidden = nn.ModuleList(Block(width, bias) for _ in range(depth))
        self.embedding = nn.Embedding(vocab, width)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.hidden:
            x = block(x)
        return self.head(x)


def expect_drawn(model, width, base):
    """Fail unless the first weights are those of the statement."""
    stds = {"embedding": 1.0, "up": width**-0.5, "down": (4 * width) ** -0.5, "head": base**0.5 / width}
    for name, p in model.named_parameters():
        where = f"{name} after init_(model, base={base}) at width {width}"
        if name.endswith("bias"):
            expect_that(bool((p == 0).all()), f"{where} is not zeros", yours=p.detach())
        elif "norm" in name:
            expect_that(bool((p == 1).all()), f"{where} is not 1: it stays as it is", yours=p.detach())
        else:
            std = next(std for layer, std in stds.items() if layer in name)
            yours, mean = float(p.detach().std()), float(p.detach().mean())
            told, facts = (
                f"wrong standard deviation of {where}",
                {"yours": f"{yours:.4g}", "wanted": f"{std:.4g}"},
            )
            expect_that(abs(yours / std - 1) < 0.05, told, **facts)
            told = f"the mean of {where} is not about 0"
            expect_that(abs(mean) < 6 * std / p.numel() ** 0.5, told, yours=f"{mean:.4g}")


def drawn(answer, *sizes, base, **options):
    model = Net(*sizes, **options)
    for layer in model.modules():
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            nn.init.ones_(layer.bias)
    answer.init_(model, base)
    return model


@pytest.mark.parametrize(("width", "base"), [(256, 16), (64, 64)])
def test_first_weights(answer, width, base):
    """The first weights have the standard deviations that the statement gives; biases are zeros."""
    expect_drawn(drawn(answer, 200, width, base=base), width, base)


def rates(answer, model, lr, base):
    """Adam's learning rate of each parameter that is in a group."""
    optimizer = torch.optim.Adam(answer.groups(model, lr, base))
    found = {id(p): float(group["lr"]) for group in optimizer.param_groups for p in group["params"]}
    return {name: found[id(p)] for name, p in model.named_parameters() if id(p) in found}


def expect_rates(answer, model, width, lr, base):
    """Fail unless each parameter has its learning rate."""
    found = rates(answer, model, lr, base)
    for name, p in model.named_parameters():
        wanted = lr * base / width if p.dim() == 2 and name != "embedding.weight" else lr
        where = f"{name} from groups(model, lr={lr}, base={base}) at width {width}"
        expect_that(name in found, f"there is no group with {where}")
        close = abs(found[name] / wanted - 1) < 1e-5
        expect_that(close, f"wrong learning rate of {where}", yours=found[name], wanted=wanted)


@pytest.mark.parametrize(("width", "base"), [(48, 12), (12, 48)])
def test_learning_rates(answer, width, base):
    """Weights of nn.Linear have lr · base / width, and all other parameters lr."""
    expect_rates(answer, Net(10, width), width, 0.003, base)


def changed(answer, width, tokens, following):
    """By how much four steps of Adam change the logits."""
    model = Net(20, width)
    answer.init_(model, 32)
    optimizer = torch.optim.Adam(answer.groups(model, 0.01, 32))
    before = model(tokens).detach()
    for _ in range(4):
        optimizer.zero_grad()
        F.cross_entropy(model(tokens), following).backward()
        optimizer.step()
    return float((model(tokens).detach() - before).square().mean().sqrt())


def test_all_widths(answer, gen):
    """Some steps of Adam change the logits of a wide model by as much as those of a narrow one."""
    tokens = torch.randint(0, 20, (64,), generator=gen)
    following = (7 * tokens + 3) % 20
    narrow, wide = (changed(answer, width, tokens, following) for width in (32, 256))
    told = "four steps of Adam change the logits of a wide model by more than those of a narrow one"
    wanted = "about the same"
    expect_that(wide < 1.5 * narrow, told, width_32=f"{narrow:.3g}", width_256=f"{wide:.3g}", wanted=wanted)


@pytest.mark.fine
def test_without_biases(answer):
    """Layers may have no bias, and hidden another depth."""
    for depth in (1, 3):
        model = drawn(answer, 100, 64, depth, base=16, bias=False)
        expect_drawn(model, 64, 16)
        expect_rates(answer, model, 64, 0.01, 16)


@pytest.mark.fine
def test_in_place(answer):
    """The parameters are the same as before, and still want gradients."""
    model = Net(20, 16)
    before = dict(model.named_parameters())
    answer.init_(model, 16)
    after = dict(model.named_parameters())
    same = {name: after.get(name) is p and p.requires_grad for name, p in before.items()}
    expect_equal(
        same, dict.fromkeys(before, True), "whether parameters are those from before init_, by name,"
    )


def oracle(answer, gen):
    def sizes(width, base, depth):
        """Standard deviations are powers of 2 here, far from the middle between two."""
        model = drawn(answer, 60, width, depth, base=base)
        return {
            name: bool((p == 0).all()) if p.dim() == 1 else round(float(p.detach().std().log2()))
            for name, p in model.named_parameters()
        }

    def some(*choices):
        return choices[int(torch.randint(len(choices), (), generator=gen))]

    found = {}
    for about in ("a model", "another model", "a third one"):
        width, base, depth = some(64, 256), some(4, 16), some(1, 2, 3)
        lr = float(torch.rand((), generator=gen))
        found[f"first weights of {about}"] = partial(sizes, width, base, depth)
        found[f"learning rates of {about}"] = partial(rates, answer, Net(10, width, depth), lr, base)
    return found
