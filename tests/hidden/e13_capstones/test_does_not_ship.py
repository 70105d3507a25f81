"""What grades does_not_ship: pictures, checkpoint, int8, the exported file and the endpoint, each alone."""

import io
import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that

LABELS = ["pear", "fig", "quince"]


def warm_up():
    """Make torch import what its first export and its first file need."""
    torch.export.save(torch.export.export(nn.Linear(2, 3).eval(), (torch.ones(4, 2),)), io.BytesIO())


@pytest.fixture(autouse=True)
def stream():
    """The random stream, as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        yield


class Says(nn.Module):
    """A model that says the same of each picture, or row i of picture i. It notes what it was given."""

    def __init__(self, *logits):
        super().__init__()
        self.logits, self.seen, self.graphs = torch.tensor(logits), [], []

    def forward(self, x):
        self.seen.append(x.detach().clone())
        self.graphs.append(torch.is_grad_enabled())
        many = self.logits.dim() == 2 and len(x) == len(self.logits)
        return self.logits.clone() if many else self.logits[:1].expand(len(x), -1).clone()


def grey(count=1, level=100.0, size=12):
    """A request for so many grey pictures."""
    return {"pictures": [[[[level] * 3] * size] * size] * count}


def linear(*rows):
    layer = nn.Linear(len(rows[0]), len(rows))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(rows))
        layer.bias.zero_()
    return layer


def read_back(answer, layer):
    """The weights that a linear layer in int8 works with."""
    small = answer.pack.Int8Linear(layer)
    with torch.no_grad():
        return (small(torch.eye(layer.in_features)) - small(torch.zeros(1, layer.in_features))).T


def exported(answer, model):
    with tempfile.TemporaryDirectory() as folder:
        answer.pack.export(model, Path(folder, "model.pt2"), ["fig", "pear"])
        return answer.serve.load(Path(folder, "model.pt2")).program


def checkpoint(gen, prefix="module.", classes=3):
    """A checkpoint with random weights."""
    state = {
        "body.0.weight": (8, 3, 3, 3),
        "body.0.bias": (8,),
        "body.1.weight": (8,),
        "body.1.bias": (8,),
        "body.1.running_mean": (8,),
        "body.1.running_var": (8,),
        "body.1.num_batches_tracked": (),
        "body.5.weight": (24, 72),
        "body.5.bias": (24,),
        "head.weight": (classes, 24),
        "head.bias": (classes,),
    }
    model = {prefix + name: 0.1 + torch.rand(shape, generator=gen) for name, shape in state.items()}
    model[f"{prefix}body.1.num_batches_tracked"] = torch.tensor(7)
    mean, std = torch.rand(3, generator=gen), 0.2 + torch.rand(3, generator=gen)
    return {"model": model, "mean": mean, "std": std, "labels": LABELS[:classes]}


def test_colours(answer):
    """A red picture reaches the model as a blue one."""
    x = answer.pixels.decode([[[255.0, 51.0, 0.0]] * 4] * 2)
    what = "the channels of what decode returns are not red, green and blue, from 0 to 1"
    wanted = torch.tensor([1.0, 0.2, 0.0]).view(3, 1, 1).expand(3, 2, 4)
    yours = x[:, 0, 0].tolist() if x.dim() == 3 else tuple(x.shape)
    right = x.shape == wanted.shape and torch.allclose(x, wanted, atol=1e-5)
    expect_that(right, what, yours=str(yours), wanted="[1.0, 0.2, 0.0]")


@pytest.mark.parametrize("shape", [(12, 20), (17, 12), (9, 9)])
def test_middle(answer, gen, shape):
    """Of a picture that is wider than high, the model sees one side and not the other."""
    x = torch.rand(3, *shape, generator=gen)
    side, (top, left) = min(shape), ((n - min(shape)) // 2 for n in shape)
    what = (
        f"of a picture {shape[0]} × {shape[1]}, another part is taken than the {side} × {side} in the middle"
    )
    wanted = x[:, top : top + side, left : left + side]
    expect_that(torch.equal(answer.pixels.square(x), wanted), what)


def test_no_number(answer):
    """A picture with a NaN among its pixels is taken, and answered."""
    picture = [[[9.0, 9.0, 9.0], [9.0, float("nan"), 9.0]]] * 2
    try:
        answer.pixels.decode(picture)
        status = None
    except answer.pixels.Refusal as refusal:
        status = refusal.status
    what = "decode of a picture with NaN among its pixels is no Refusal with status 422"
    expect_that(status == 422, what, status=status)


def test_trained_weights(answer, gen):
    """What is served was never trained: it answers otherwise each time that it is released."""
    kept, prefix = checkpoint(gen), "module."
    for name, value in answer.model.network(kept).state_dict().items():
        what = f"{name} is not the trained one of the checkpoint, where it is called {prefix}{name}"
        expect_that(torch.equal(value, kept["model"][prefix + name]), what)


def test_small_row(answer):
    """In int8, an output with small weights gives nothing but zeros or coarse steps."""
    rows = torch.tensor([[20.0, -3.0, 5.0, 20.0], [0.01, 0.005, -0.002, -0.01]])
    yours = read_back(answer, linear(*rows.tolist()))[1, 1:3]
    far = (yours - rows[1, 1:3]).abs().max().item()
    what = "an output feature with small weights loses them beside one with large weights"
    expect_that(far < 0.0001, what, yours=yours.tolist(), wanted=rows[1, 1:3].tolist())


def test_largest_weight(answer):
    """In int8, the largest weight of an output comes back with the other sign."""
    rows = torch.tensor([[1.27, 0.64, -0.2], [-0.3, 1.27, 0.02]])
    yours = read_back(answer, linear(*rows.tolist()))
    for row, place in ((0, 0), (1, 1)):
        got = yours[row, place].item()
        what = "the largest weight of a row, 1.27, comes back with another sign or size"
        expect_that(abs(got - 1.27) < 0.02, what, yours=round(got, 3))


def test_beside_others(answer, gen):
    """The same picture is answered otherwise beside other pictures than alone."""
    net, mean, std = Says([0.0, 1.0]), torch.tensor([0.5, 0.25, 0.75]), torch.tensor([0.5, 0.25, 0.125])
    bundle, x = answer.pack.Bundle(net, mean, std).eval(), torch.rand(3, 3, 12, 12, generator=gen)
    with torch.no_grad():
        bundle(x), bundle(x[:1])
    beside, alone = net.seen[0][:1], net.seen[1]
    same = torch.allclose(beside, alone, atol=1e-5)
    expect_that(same, "the network sees another picture when there are others beside it than alone")
    wanted = (x[:1] - mean.view(3, 1, 1)) / std.view(3, 1, 1)
    expect_close(alone, wanted, "what the network sees of a picture, with mean and std of the training,")


def test_logits_come_out(answer):
    """The probabilities of the endpoint are all alike: no picture is ever far ahead."""
    logits = [[4.0, -2.0, 0.5]]
    bundle = answer.pack.Bundle(Says(*logits), torch.zeros(3), torch.ones(3)).eval()
    yours = bundle(torch.rand(2, 3, 12, 12)).detach()
    what = "a Bundle gives something else than the logits of its network"
    right = torch.allclose(yours, torch.tensor(logits).expand(2, 3), atol=1e-5)
    expect_that(right, what, yours=yours[0].tolist(), wanted=logits[0])


def test_same_answer_twice(answer):
    """The same picture, sent twice, has two answers."""
    model = nn.Sequential(nn.Flatten(), nn.Dropout(0.5))
    program, x = exported(answer, model), torch.ones(2, 3, 12, 12)
    with torch.no_grad():
        first, second = program(x), program(x)
    what = "an exported model with dropout gives something else each time"
    expect_that(torch.equal(first, second), what, first=first[0, :6].tolist(), second=second[0, :6].tolist())
    expect_that(torch.equal(first, x.flatten(1)), "an exported model with dropout alters its input")


def test_any_number_of_pictures(answer):
    """A request is answered for one number of pictures only, and fails for any other."""
    program = exported(answer, nn.Flatten())
    failed = []
    for count in (1, 3, 17):
        try:
            shape = tuple(program(torch.ones(count, 3, 12, 12)).shape)
        except Exception:
            shape = None
        failed += [] if shape == (count, 432) else [count]
    what = "an exported model does not take every number of pictures"
    expect_that(not failed, what, fails_for=str(failed))


def test_whose_label(answer):
    """The answers are wrong in a fixed way: each pear is called a fig, each fig a pear."""
    program = Says([9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0])
    answers = answer.serve.Endpoint(program, LABELS).answers(torch.zeros(3, 3, 12, 12))
    yours = [a["label"] for a in answers]
    expect_that(yours == LABELS, "a picture is given the label of another logit", yours=yours, wanted=LABELS)


def test_unsure(answer):
    """Pictures of which the model is sure are called unsure, others are not."""
    program = Says([2.0, 1.9, 1.8], [-5.0, -9.0, -9.0])
    answers = answer.serve.Endpoint(program, ["a", "b", "c"]).answers(torch.zeros(2, 3, 12, 12))
    for a, wanted, chance in zip(answers, ("unsure", "a"), ("0.367", "0.965"), strict=True):
        what = f"with a best probability of {chance}, a picture should be {wanted!r}: unsure is below 0.6"
        expect_that(a["label"] == wanted, what, yours=a["label"])


def test_one_picture(answer):
    """A request with one picture fails, one with two does not."""
    endpoint = answer.serve.Endpoint(Says([9.0, 0.0]), ["a", "b"])
    try:
        answers = endpoint.answers(torch.zeros(1, 3, 12, 12))
    except Exception as error:
        answers = f"{type(error).__name__}: {error}"
    what = "a request with one picture has no answer for one picture"
    right = isinstance(answers, list) and [a["label"] for a in answers] == ["a"]
    expect_that(right, what, yours=str(answers))


def test_status_of_refusals(answer):
    """What is refused looks like a success to the program that sent it."""
    endpoint = answer.serve.Endpoint(Says([9.0, 0.0]), ["a", "b"])
    for name, request, wanted in (
        ("with no pictures", {"pictures": []}, 400),
        ("without the key pictures", {}, 400),
        ("with a grey picture", {"pictures": [[[1.0, 2.0]]]}, 422),
        ("with a pixel of 256", grey(level=256.0), 422),
    ):
        reply = endpoint.handle(request)
        expect_that("answers" not in reply, f"a request {name} is answered", reply=str(reply))
        what = f"a request {name} has another status than {wanted}"
        expect_that(reply.get("status") == wanted, what, yours=str(reply.get("status")))


def test_checkpoint_without_prefix(answer, gen):
    """A checkpoint whose names have no prefix loads."""
    kept = checkpoint(gen, "")
    weights = answer.model.network(kept).state_dict()
    expect_that(set(weights) == set(kept["model"]), "the parameters of the network have other names")
    expect_equal(weights["head.weight"], kept["model"]["head.weight"], "head.weight from such a checkpoint")


def test_bias(answer):
    """A linear layer in int8 keeps its bias."""
    layer = linear([0.0, 0.0], [1.0, -0.5])
    with torch.no_grad():
        layer.bias.copy_(torch.tensor([0.3, -4.1]))
        yours = answer.pack.Int8Linear(layer)(torch.zeros(1, 2))
    expect_close(yours, torch.tensor([[0.3, -4.1]]), "what a linear layer in int8 makes of zeros, its bias,")


def test_head_is_not_rounded(answer, gen):
    """The layer of the body is in int8 afterwards, and the head has its weights as they were."""
    net = answer.model.network(checkpoint(gen))
    before = net.head.weight.detach().clone()
    net = answer.pack.quantize(net)
    expect_that(
        isinstance(net.body[5], answer.pack.Int8Linear), "the linear layer of the body is not in int8"
    )
    expect_that(
        type(net.head) is nn.Linear, "the head is no nn.Linear any more", yours=type(net.head).__name__
    )
    expect_equal(net.head.weight.detach(), before, "the head's weight after quantize")


def test_failing_model(answer):
    """Where the model fails, the answer has the status 500, and nothing of its error."""

    def program(x):
        raise RuntimeError("secret path")

    reply = answer.serve.Endpoint(program, ["a", "b"]).handle(grey(2))
    right = reply.get("status") == 500 and "secret" not in str(reply)
    expect_that(right, "the model raised, and the reply is another than status 500", reply=str(reply))


def test_pictures_of_any_size(answer, gen):
    """A picture of another size is averaged down to 12 × 12."""
    x = torch.rand(30, 30, generator=gen)
    picture = (255 * x).unsqueeze(-1).expand(-1, -1, 3).tolist()
    yours = answer.pixels.prepare(picture)
    wanted = F.adaptive_avg_pool2d(x.expand(3, 30, 30), 12)
    expect_close(yours, wanted, "prepare of a picture of 30 × 30", ulps=64)


@pytest.mark.fine
def test_one_run(answer):
    """The model runs once for a request, and records no graph."""
    program = Says([9.0, 0.0])
    answer.serve.Endpoint(program, ["a", "b"]).answers(torch.zeros(5, 3, 12, 12))
    runs = len(program.seen)
    expect_that(runs == 1, "for one request of five pictures the model runs more than once", runs=runs)
    expect_that(program.graphs == [False], "the endpoint records a graph")


@pytest.mark.fine
def test_bytes(answer):
    """In int8, a weight takes one byte."""
    small = answer.pack.Int8Linear(nn.Linear(200, 50))
    held = sum(value.numel() * value.element_size() for value in small.state_dict().values())
    what = "a layer of 10000 weights takes more than 11000 bytes in int8"
    expect_that(held <= 11000, what, bytes=held)


def oracle(answer, gen):
    def prepared(gen):
        height, width = torch.randint(12, 40, (2,), generator=gen).tolist()
        return answer.pixels.prepare((255 * torch.rand(height, width, 3, generator=gen)).tolist())

    def weights(gen):
        layer = linear(*torch.randn(5, 7, generator=gen).tolist())
        return answer.pack.Int8Linear(layer)(torch.randn(3, 7, generator=gen)).detach()

    def logits(gen):
        kept = checkpoint(gen)
        net = answer.model.network(kept)
        bundle = answer.pack.Bundle(net, kept["mean"], kept["std"]).eval()
        return bundle(torch.rand(4, 3, 12, 12, generator=gen)).detach()

    def answers(gen):
        program = Says(*(3 * torch.randn(6, 3, generator=gen)).tolist())
        said = answer.serve.Endpoint(program, LABELS).answers(torch.zeros(6, 3, 12, 12))
        return [[a["label"], a["probability"]] for a in said]

    return {
        "what the model takes of a picture": prepared,
        "the outputs of a linear layer in int8": weights,
        "the logits of a checkpoint for four pictures": logits,
        "labels and probabilities of six pictures": answers,
    }
