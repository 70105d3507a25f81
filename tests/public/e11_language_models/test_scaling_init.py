"""The worked example of scaling_init."""

import torch
from torch import nn

from grader.checks import expect_that

STDS = {"embedding": 1.0, "hidden.0.1": 1 / 32, "hidden.0.3": 1 / 64, "head": 8 / 1024}
MISTAKES = [
    ("embedding", 1 / 32, "1 / √width: tokens are no inputs that are added up"),
    ("hidden.0.1", 1 / 1024, "variance and standard deviation are mixed up: the variance is 1 / fan_in"),
    ("hidden.0.1", 1 / 64, "1 / √fan_out: fan_in is the number of inputs"),
    ("hidden.0.1", 2**0.5 / 32, "√2 too large: Kaiming's gain is not asked for"),
    ("hidden.0.3", 1 / 32, "1 / √width for all of hidden: fan_in is the number of the layer's own inputs"),
    ("head", 1 / 32, "head is drawn like hidden: √base / width is smaller"),
    ("head", 1 / 16, "base / width, without a root of base"),
    ("head", 1 / 1024, "1 / width: base is left out"),
]


def net():
    """A `Net(vocab=100, width=1024)` with one block, which nobody calls."""
    model = nn.Module()
    model.embedding, model.head = nn.Embedding(100, 1024), nn.Linear(1024, 100)
    block = nn.Sequential(nn.LayerNorm(1024), nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024))
    model.hidden = nn.ModuleList([block])
    return model


def test_first_weights(answer):
    """At width 1024 and base 64 the standard deviations are those of the statement, and biases are zeros."""
    model = net()
    answer.init_(model, base=64)
    for name, wanted in STDS.items():
        layer = model.get_submodule(name)
        yours = float(layer.weight.detach().std())
        found = (words for where, std, words in MISTAKES if where == name and abs(yours / std - 1) < 0.05)
        told = f"wrong standard deviation of {name}.weight after init_(model, base=64) at width 1024"
        facts = {"yours": f"{yours:.4g}", "wanted": f"{wanted:.4g}"}
        expect_that(abs(yours / wanted - 1) < 0.05, told, **facts, likely=next(found, ""))
        if name != "embedding":
            zeros = bool((layer.bias == 0).all())
            expect_that(zeros, f"{name}.bias is not zeros after init_(model, base=64)", yours=layer.bias)


def test_learning_rates(answer):
    """At width 1024 and base 64 the weights of nn.Linear have lr / 16, and the others lr."""
    model = net()
    optimizer = torch.optim.Adam(answer.groups(model, lr=0.01, base=64))
    found = {id(p): float(group["lr"]) for group in optimizer.param_groups for p in group["params"]}
    mistakes = {
        0.01: "it is not scaled",
        0.0025: "it is scaled by √(base / width): base / width is asked for",
        0.01 / 64: "it is scaled by base / fan_in: width is the model's, for all layers",
        0.16: "it is scaled the other way round",
        0.000625: "it is scaled: that is for the weights of nn.Linear",
    }
    for name, p in model.named_parameters():
        wanted, yours = (
            0.000625 if p.dim() == 2 and name != "embedding.weight" else 0.01,
            found.get(id(p), 0.0),
        )
        where = f"{name} from groups(model, lr=0.01, base=64) at width 1024"
        expect_that(id(p) in found, f"there is no group with {where}")
        likely = next((words for lr, words in mistakes.items() if abs(yours / lr - 1) < 1e-5), "")
        close, told = abs(yours / wanted - 1) < 1e-5, f"wrong learning rate of {where}"
        expect_that(close, told, yours=yours, wanted=wanted, likely=likely)
