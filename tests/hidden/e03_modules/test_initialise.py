"""What grades initialise: what is drawn, constants, what stays; odd layers, in place."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that


class Scale(nn.Module):
    """A layer that the table does not name."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.ones(size))


class Narrow(nn.Linear):
    pass


def network(channels=16, outputs=32, inputs=64, classes=256, dim=128, bias=True):
    """One layer of each kind, by name, all numbers 7 at first."""
    made = nn.ModuleDict(
        {
            "conv": nn.Conv2d(channels, outputs, 4, bias=bias),
            "batch_norm": nn.BatchNorm2d(outputs),
            "linear": nn.Linear(inputs, classes, bias=bias),
            "layer_norm": nn.LayerNorm(classes),
            "embedding": nn.Embedding(classes, dim),
            "block": nn.Sequential(nn.Linear(dim, inputs, bias=bias), nn.ReLU()),
        }
    )
    for p in made.parameters():
        nn.init.constant_(p, 7.0)
    return made


def fans(weight):
    field = weight[0, 0].numel()
    return weight.shape[1] * field, weight.shape[0] * field


def expect_normal(weight, std, name, **mistakes):
    """Fail unless these numbers are drawn from a normal distribution around 0."""
    drawn = weight.detach().double()
    yours, mean = float(drawn.std()), float(drawn.mean())
    where = f"{name} after model.apply(initialise)"
    likely = [words.replace("_", " ") for words, other in mistakes.items() if abs(yours / other - 1) < 0.05]
    facts = {"yours": f"{yours:.4g}", "wanted": f"{std:.4g}"} | ({"likely": likely[0]} if likely else {})
    expect_that(abs(yours / std - 1) < 0.05, f"wrong standard deviation of {where}", **facts)
    expect_that(
        abs(mean) < 6 * std / drawn.numel() ** 0.5, f"the mean of {where} is not 0", yours=f"{mean:.4g}"
    )
    share = float((drawn.abs() < std).double().mean())
    told = f"{where} is not drawn from a normal distribution: of that 68 % lie within one deviation"
    expect_that(abs(share - 0.683) < 0.05, told, yours=f"{100 * share:.0f} %")


def expect_drawn(model):
    """Fail unless each weight has the distribution of the table."""
    for name, layer in model.named_modules():
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            fan_in, fan_out = fans(layer.weight[..., None, None] if layer.weight.dim() == 2 else layer.weight)
            fan, other = (fan_in, fan_out) if isinstance(layer, nn.Linear) else (fan_out, fan_in)
            channels = layer.weight.shape[1 if isinstance(layer, nn.Linear) else 0]
            expect_normal(
                layer.weight,
                (2 / fan) ** 0.5,
                f"{name}.weight",
                the_two_fans_are_swapped=(2 / other) ** 0.5,
                the_2_is_missing=(1 / fan) ** 0.5,
                this_is_the_rule_of_Glorot=(2 / (fan + other)) ** 0.5,
                the_size_of_the_kernel_is_left_out=(2 / channels) ** 0.5,
                the_root_is_missing=2 / fan,
                these_are_the_numbers_of_an_embedding=0.02,
            )
        elif isinstance(layer, nn.Embedding):
            expect_normal(layer.weight, 0.02, f"{name}.weight", this_is_the_default_of_PyTorch=1.0)


@pytest.mark.parametrize(
    "sizes", [{}, {"channels": 24, "outputs": 12, "inputs": 200, "classes": 50}], ids=str
)
def test_standard_deviations(answer, sizes):
    """Linear layers, convolutions and embeddings are drawn from the table's normal distributions."""
    model = network(**sizes)
    model.apply(answer.initialise)
    expect_drawn(model)


def test_constants(answer):
    """Biases are 0, and the weights of norms are 1."""
    model = network()
    model.apply(answer.initialise)
    for name, p in model.named_parameters():
        if p.dim() == 1:
            wanted = 0.0 if name.endswith("bias") else 1.0
            told = f"{name} is not {wanted:g} after model.apply(initialise)"
            expect_that(bool((p == wanted).all()), told, yours=p.detach()[:4].tolist())


def kept(answer, gen):
    """Numbers of layers that the table does not name, in a model, after initialise."""
    others = nn.ModuleDict({"scale": Scale(5), "conv1d": nn.Conv1d(3, 4, 2), "prelu": nn.PReLU(3)})
    before = {name: torch.randn(p.shape, generator=gen) for name, p in others.named_parameters()}
    others.load_state_dict(before)
    nn.Sequential(others, nn.Linear(3, 2)).apply(answer.initialise)
    return before, {name: p.detach() for name, p in others.named_parameters()}


def test_what_stays(answer, gen):
    """Layers that the table does not name keep their numbers."""
    before, after = kept(answer, gen)
    for name, wanted in before.items():
        expect_equal(after[name], wanted, f"{name}, of a layer that the table does not name,")


@pytest.mark.fine
def test_missing_parts(answer):
    """A layer may have no bias, a norm no parameters."""
    model = network(bias=False)
    model["bare"] = nn.LayerNorm(4, elementwise_affine=False)
    model["bare_too"] = nn.BatchNorm2d(4, affine=False)
    model["without_bias"] = nn.LayerNorm(4, bias=False)
    model.apply(answer.initialise)
    expect_drawn(model)


@pytest.mark.fine
def test_derived_classes(answer):
    """Classes that derive from the layers of the table count as well."""
    model = nn.ModuleDict({"attention": nn.MultiheadAttention(128, 2), "narrow": Narrow(128, 300)})
    for p in model.parameters():
        nn.init.constant_(p, 7.0)
    model.apply(answer.initialise)
    expect_drawn(model)


@pytest.mark.fine
@pytest.mark.parametrize("padding", [0, 3])
def test_padding_row(answer, padding):
    """The row of padding_idx is 0, and the others are not."""
    layer = nn.Embedding(5, 4, padding_idx=padding)
    nn.init.constant_(layer.weight, 7.0)
    layer.apply(answer.initialise)
    zero = [n for n, row in enumerate(layer.weight.detach()) if not row.any()]
    expect_equal(zero, [padding], f"the rows of 0 in nn.Embedding(5, 4, padding_idx={padding})")


@pytest.mark.fine
def test_in_place(answer):
    """The parameters are those from before, and want a gradient if they did."""
    model = network()
    model["conv"].requires_grad_(False)
    before = dict(model.named_parameters())
    asked = {name: p.requires_grad for name, p in before.items()}
    model.apply(answer.initialise)
    after = dict(model.named_parameters())
    same = {name: after.get(name) is p for name, p in before.items()}
    expect_equal(same, dict.fromkeys(before, True), "whether parameters are those from before, by name,")
    yours = {name: p.requires_grad for name, p in after.items()}
    expect_equal(yours, asked, "whether parameters require a gradient, by name,")


@pytest.mark.fine
def test_seeded(answer):
    """The same seed gives the same numbers, and the next draw gives others."""
    drawn = []
    for seed in (3, 3, None):
        if seed:
            torch.manual_seed(seed)
        model = network()
        model.apply(answer.initialise)
        drawn.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    expect_that(torch.equal(drawn[0], drawn[1]), "the same torch.manual_seed gives other weights")
    told = "each call of initialise gives the same weights: it sets a seed of its own"
    expect_that(not torch.equal(drawn[1], drawn[2]), told)


def oracle(answer, gen):
    def some(*choices):
        return choices[int(torch.randint(len(choices), (), generator=gen))]

    def sizes():
        """Deviations as whole powers of √2; what is constant as it is."""
        model = network(some(16, 32, 64), some(16, 64), some(64, 256), some(128, 512), some(64, 128))
        model.apply(answer.initialise)
        return {
            name: p.detach() if p.dim() == 1 else round(2 * float(p.detach().std().log2()))
            for name, p in model.named_parameters()
        }

    return {
        "what is drawn": sizes(),
        "what is drawn for another model": sizes(),
        "layers that the table does not name": kept(answer, gen)[1],
    }
