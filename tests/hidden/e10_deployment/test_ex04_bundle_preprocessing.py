"""What grades bundle_preprocessing: numbers, dtypes, gradients, what the state dict carries, refusals."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_gradients, expect_raises, expect_that, unchanged
from grader.checks.devices import count_traffic, expect_no_traffic

MEAN, STD = [0.5, 0.375, 0.3125], [0.1875, 0.25, 0.5]  # float32 has them: double() changes none
LABELS = ["cat", "dog, or\n\0wolf", 40 * "Käfer ", "うなぎ\0"]


class Network(nn.Module):
    """A convolution to four classes, with dropout that tests keep on or off."""

    def __init__(self, channels=3, classes=4):
        super().__init__()
        self.conv = nn.Conv2d(channels, classes, 2)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(self.conv(x)).mean((2, 3))


def network(gen, channels=3, classes=4):
    module = Network(channels, classes)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return module


def normalised(pixels, mean, std):
    """In float64."""
    x = pixels.double() / (255 if pixels.dtype == torch.uint8 else 1)
    mean, std = (torch.as_tensor(t, dtype=torch.float32).double().view(-1, 1, 1) for t in (mean, std))
    return (x - mean) / std


def bytes_of(gen, *shape):
    return torch.randint(256, shape, generator=gen, dtype=torch.uint8)


def through_a_file(state):
    """What comes back from a file that is read safely."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def floats_of(gen, *shape):
    return 1.4 * torch.rand(shape, generator=gen) - 0.2  # a little more and less than 0 to 1


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 1, 2, 2), (3, 4, 2, 3)], ids=str)
def test_numbers(answer, gen, shape):
    """Bytes are divided by 255, floats are not, and each channel has its own mean and deviation."""
    mean, std = torch.rand(shape[1], generator=gen), torch.rand(shape[1], generator=gen) + 0.1
    module = nn.Flatten()
    bundle = answer.Bundle(module, mean.tolist(), std.tolist(), LABELS)
    dark = torch.randint(2, shape, generator=gen, dtype=torch.uint8)  # looks like 0 to 1
    for what, pixels in {
        "bytes": bytes_of(gen, *shape),
        "dark bytes": dark,
        "floats": floats_of(gen, *shape),
        "strided bytes": bytes_of(gen, *shape[::-1]).permute(3, 2, 1, 0),
        "bright floats": floats_of(gen, *shape) + 3,
    }.items():
        wanted = normalised(pixels, mean, std)
        call = f"bundle(pixels), where the network is Flatten and the pixels are {what}"
        with unchanged(call, pixels=pixels):
            yours = bundle(pixels)
        size = float(
            ((pixels.double() / (255 if pixels.dtype == torch.uint8 else 1)).abs().max() + 1) / std.min()
        )
        expect_close(yours, wanted.flatten(1).float(), call, scale=size)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_dtypes(answer, gen, dtype):
    """The network computes in the dtype that the bundle was moved to, for pixels of any."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    if dtype != torch.float32:
        bundle.to(dtype)
    seen = []
    layer = next(m for m in bundle.modules() if isinstance(m, Network))
    layer.register_forward_pre_hook(lambda _m, args: seen.append(args[0].detach()))
    for pixels in (
        bytes_of(gen, 2, 3, 4, 5),
        floats_of(gen, 2, 3, 4, 5),
        floats_of(gen, 2, 3, 4, 5).double() / 3,  # float32 does not have these numbers
        floats_of(gen, 2, 3, 4, 5).half(),
        floats_of(gen, 2, 3, 4, 5).bfloat16(),
    ):
        call = f"bundle.to({dtype})(pixels in {pixels.dtype})"
        wanted = normalised(pixels, MEAN, STD)
        seen.clear()
        logits = bundle(pixels)
        expect_equal(len(seen), 1, f"the calls of the network in {call}")
        expect_close(seen[0], wanted.to(dtype), f"what the network is given in {call}", scale=8.0)
        expect_equal(logits.dtype, dtype, f"the dtype of {call}")
    bare = answer.Bundle(nn.Flatten(), MEAN, STD, LABELS).to(dtype)
    yours = bare(bytes_of(gen, 2, 3, 4, 5))
    expect_equal(yours.dtype, dtype, f"the dtype of a bundle in {dtype} around a network without weights")
    packed = nn.Flatten()
    packed.codes = nn.Parameter(torch.zeros(3, dtype=torch.int8), requires_grad=False)
    yours = answer.Bundle(packed, MEAN, STD, LABELS).to(dtype)(bytes_of(gen, 2, 3, 4, 5))
    expect_equal(yours.dtype, dtype, f"the dtype of a bundle in {dtype} around a network with int8 weights")


def test_gradients(answer, gen):
    """Gradients reach floating pixels and all weights of the network, and nothing else is trained."""
    module = network(gen)
    bundle = answer.Bundle(module, MEAN, STD, LABELS)
    weight, bias = module.conv.weight.detach().clone(), module.conv.bias.detach().clone()

    def yours(pixels, weight, bias):
        name = {p: n for n, p in bundle.named_parameters()}
        given = {name[module.conv.weight]: weight, name[module.conv.bias]: bias}
        return torch.func.functional_call(bundle, given, (pixels,))

    def exact(pixels, weight, bias):
        return F.conv2d(normalised(pixels, MEAN, STD), weight, bias).mean((2, 3))

    for mode in (True, False):  # a saliency map is made in evaluation mode
        bundle.train(mode)
        expect_gradients(
            yours,
            [floats_of(gen, 2, 3, 4, 5), weight, bias],
            exact,
            gen=gen,
            call=f"bundle(pixels) with bundle.training {mode}",
            names="pixels weight bias",
        )
    mine = {id(p) for p in bundle.parameters()}
    expect_that(
        mine == {id(p) for p in module.parameters()}, "bundle.parameters() are not those of the network"
    )


@pytest.mark.parametrize("how", ["state dict", "state dict of something larger", "deepcopy", "pickle"])
def test_taken_along(answer, gen, how):
    """Weights, numbers and labels go together, by state dict, copy or pickle."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    if how == "state dict":
        other = answer.Bundle(network(gen), [0.0] * 3, [1.0] * 3, ["", "a much longer label", "?", "?"])
        other.load_state_dict(through_a_file(bundle.state_dict()), strict=True)
    elif how == "state dict of something larger":
        other = answer.Bundle(network(gen), [0.0] * 3, [1.0] * 3, ["?"] * 4)
        whole, empty = (nn.ModuleDict({"sound": nn.Linear(2, 2), "vision": b}) for b in (bundle, other))
        empty.load_state_dict(through_a_file(whole.state_dict()))
    else:
        other = copy.deepcopy(bundle) if how == "deepcopy" else pickle.loads(pickle.dumps(bundle))
    pixels = bytes_of(gen, 9, 3, 4, 5)
    wanted = bundle(pixels).detach()
    names = [LABELS[i] for i in wanted.argmax(1).tolist()]
    call = f"a bundle that got all from another by {how}"
    expect_close(other(pixels).detach(), wanted, call)
    expect_equal(list(other.labels), LABELS, f"list(labels) of {call}")
    expect_equal(other.classify(pixels), names, f"classify of {call}")
    expect_equal(bundle.classify(pixels), names, "classify of the first bundle")
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    third = answer.Bundle(network(gen), [0.1] * 3, [0.2] * 3, LABELS[::-1])
    third.load_state_dict(through_a_file(other.state_dict()))  # a state dict of what was loaded itself
    expect_equal(list(third.labels), LABELS, "list(labels) after a second trip through a state dict")
    expect_close(bundle(pixels).detach(), wanted, "the first bundle, after its copy was changed,")
    if how == "state dict":  # as texts, the numbers 10 and 11 come before 2
        for text in (
            "lkjihgfedcba",
            "".join(map(chr, range(300))),
        ):  # separators, too
            many, few = (answer.Bundle(nn.Flatten(), MEAN, STD, list(t)) for t in (text, "?" * len(text)))
            few.load_state_dict(through_a_file(many.state_dict()))
            what = f"list(labels) of a bundle that got {len(text)} from another"
            expect_equal(list(few.labels), list(text), what)


def test_loaded_after_a_move(answer, gen, device):
    """A bundle in float64 that loads keeps its dtype, and one on another device stays there."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    other = answer.Bundle(network(gen), [0.0] * 3, [1.0] * 3, LABELS[::-1]).double()
    other.load_state_dict(through_a_file(bundle.state_dict()))
    pixels = bytes_of(gen, 2, 3, 4, 5)
    wanted = bundle(pixels).detach().double()
    yours = other(pixels).detach()
    expect_equal(yours.dtype, torch.float64, "the dtype of a float64 bundle's result after load_state_dict")
    expect_close(yours.float(), wanted.float(), "a float64 bundle's result after load_state_dict", scale=20.0)
    expect_equal(list(other.labels), LABELS, "its labels")
    moved = answer.Bundle(network(gen), [0.0] * 3, [1.0] * 3, LABELS[::-1]).to(device)
    moved.load_state_dict(through_a_file(bundle.state_dict()))
    there = pixels.to(device)
    with count_traffic() as traffic:
        yours = moved(there)
    call = "a bundle on another device, after load_state_dict,"
    expect_no_traffic(traffic, call)
    expect_close(yours.detach().cpu(), bundle(pixels).detach(), call)


def test_own_copies(answer, gen):
    """Lists and tensors that were given can change afterwards; two bundles do not meet."""
    mean, std, labels = torch.tensor(MEAN), torch.tensor(STD), list(LABELS)
    pixels = bytes_of(gen, 2, 3, 4, 5)
    module = network(gen)
    bundle = answer.Bundle(module, mean, std, labels)
    lists = answer.Bundle(module, list(MEAN), list(STD), tuple(labels))
    other = answer.Bundle(module, [0.0] * 3, [1.0] * 3, LABELS[::-1])
    wanted = bundle(pixels).detach()
    mean.zero_()
    std.fill_(9.0)
    labels[:] = "abcd"
    expect_close(
        bundle(pixels).detach(), wanted, "bundle(pixels) after the tensors that it was made of changed"
    )
    expect_close(lists(pixels).detach(), wanted, "bundle(pixels), made of lists")
    expect_equal(
        list(bundle.labels), LABELS, "list(bundle.labels) after the list that it was made of changed"
    )
    expect_equal(list(other.labels), LABELS[::-1], "list(labels) of another bundle")
    whole = answer.Bundle(module, [0, 0, 0], [1, 1, 1], LABELS)
    zero_one = answer.Bundle(module, [0.0] * 3, [1.0] * 3, LABELS)
    for given in (pixels, pixels / 255):
        call = f"bundle(pixels in {given.dtype}) with mean and std in ints"
        expect_close(whole(given).detach(), zero_one(given).detach(), call)
    learned = torch.tensor(MEAN, requires_grad=True)
    trained = answer.Bundle(module, learned, STD, LABELS)
    trained(pixels).sum().backward()
    expect_that(
        learned.grad is None,
        "the mean is trained: a tensor that requires a gradient, given as mean, has one after backward",
        yours=learned.grad,
        wanted="None",
    )
    double = answer.Bundle(module, torch.tensor(MEAN).double(), torch.tensor(STD).double(), LABELS)
    expect_close(double(pixels).detach(), wanted, "a bundle with mean and std in float64")


class Logits(nn.Module):
    """The first pixels of the first channel are the logits."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, x):
        return x[:, 0, 0, : self.count]


def test_labels(answer):
    """Each image gets the label of its largest logit, of equal ones the first."""
    logits = torch.tensor(
        [
            [0.1, 0.9, 0.2, 0.0],
            [0.5, 0.1, 0.5, 0.2],
            [0.0, 0.0, 0.1, 0.3],
            [0.3, 0.3, 0.3, 0.3],
            [20.0, 40.0, 70.0, 30.0],  # as probabilities they would all be 1
            [-200.0, -900.0, -150.0, -300.0],  # or 0
            [1e-9, 3e-9, 2e-9, 0.0],  # or all a quarter
        ]
    )
    pixels = logits[:, None, None, :].expand(7, 2, 3, 4)
    bundle = answer.Bundle(Logits(4), [0.0, 0.0], [1.0, 1.0], LABELS)
    wanted = [LABELS[1], "cat", LABELS[3], "cat", LABELS[2], LABELS[2], LABELS[1]]
    for row, right in enumerate(wanted):
        call = (
            f"bundle.classify(pixels) of one image with the logits {[f'{x:g}' for x in logits[row].tolist()]}"
        )
        expect_equal(bundle.classify(pixels[row : row + 1]), [right], call)
    expect_equal(bundle.classify(pixels), wanted, "bundle.classify(pixels)")
    names = ["cat", "dog", "cat", "cat"]
    twice = answer.Bundle(Logits(4), [0.0, 0.0], [1.0, 1.0], names)
    expect_equal(list(twice.labels), names, "list(labels) of a bundle with three labels that are the same")
    call = "bundle.classify(pixels), where three labels are the same"
    expect_equal(twice.classify(pixels), ["dog", "cat", "cat", "cat", "cat", "cat", "dog"], call)
    only = answer.Bundle(Logits(1), [0.0, 0.0], [1.0, 1.0], ["thing"])
    expect_equal(only.classify(pixels), ["thing"] * 7, "classify of a bundle with a single class")


def test_empty_batch(answer, gen):
    """No images have no labels, and logits of the right shape."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    for dtype in (torch.uint8, torch.float32):
        none = torch.zeros(0, 3, 4, 5, dtype=dtype)
        expect_equal(bundle(none).detach(), torch.zeros(0, 4), "bundle(pixels) of no images")
        expect_equal(bundle.classify(none), [], "bundle.classify(pixels) of no images")
        few = answer.Bundle(nn.Flatten(), MEAN, STD, LABELS)  # 60 logits for 4 labels
        call = "classify of no images by a bundle with 4 labels, whose network gives 60 logits,"
        expect_raises(ValueError, lambda few=few, none=none: few.classify(none), call)


def test_modes_are_the_caller_s(answer, gen):
    """Dropout is on where the caller has it on, in classify as well, and stays so."""
    module = network(gen)
    bundle = answer.Bundle(module, MEAN, STD, LABELS)
    seen = []
    module.dropout.register_forward_hook(lambda layer, *_: seen.append(layer.training))
    for mode in (True, False):
        bundle.train(mode)
        seen.clear()
        bundle(bytes_of(gen, 2, 3, 4, 5))
        bundle.classify(bytes_of(gen, 2, 3, 4, 5))
        expect_equal(
            seen,
            [mode, mode],
            f"the training flag of the dropout in forward and classify after train({mode})",
        )
        expect_equal({m.training for m in bundle.modules()} == {mode}, True, "the training flags afterwards")


def test_on_a_device(answer, gen, device):
    """A bundle that was moved computes there: only the class numbers come back, all at once."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    for pixels in (bytes_of(gen, 3, 3, 4, 5), floats_of(gen, 3, 3, 4, 5)):
        bundle.cpu()
        wanted, names = bundle(pixels).detach(), bundle.classify(pixels)
        bundle.to(device)
        there = pixels.to(device)
        with count_traffic() as traffic:
            yours = bundle(there)
        expect_no_traffic(traffic, "bundle(pixels)")
        expect_close(yours.detach().cpu(), wanted, "bundle(pixels) on another device")
        with count_traffic() as traffic:
            labels = bundle.classify(there)
        expect_equal(labels, names, "bundle.classify(pixels) on another device")
        expect_equal(traffic.to_device, 0, "the copies to the device in bundle.classify(pixels)")
        expect_that(
            traffic.to_host <= 1,
            "classify fetches more than the class numbers, or these one by one",
            yours=f"{traffic.to_host} copies",
            wanted="1 copy",
        )
        expect_that(
            traffic.numbers <= 3,
            "classify fetches more than the class numbers",
            yours=f"{traffic.numbers} numbers for three images",
            wanted="one for each image: the logits stay on the device",
        )


@pytest.mark.parametrize(
    ("mean", "std"),
    [
        ([0.5, 0.5], [1.0, 1.0, 1.0]),
        ([0.5], [1.0, 1.0, 1.0]),
        ([0.5, 0.5, 0.5], [1.0]),
        ([0.5, 0.5, 0.5], [1.0, 0.0, 1.0]),
        ([0.5, 0.5, 0.5], [1.0, 1.0, -0.1]),
        ([0.5, 0.5, 0.5], [1.0, float("nan"), 1.0]),
    ],
    ids=str,
)
def test_bad_numbers(answer, mean, std):
    """Numbers that do not fit each other, and deviations that are not positive, are a ValueError."""
    for given in ((mean, std), (torch.tensor(mean), torch.tensor(std))):
        call = f"Bundle(network, {mean}, {std}, labels)"
        expect_raises(ValueError, lambda given=given: answer.Bundle(nn.Flatten(), *given, LABELS), call)
    answer.Bundle(nn.Flatten(), [0.5], [1e-20], LABELS)  # small, but positive


def test_bad_pixels(answer, gen):
    """Pixels of another dtype are a TypeError, of another shape a ValueError, in forward and in classify."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    one = answer.Bundle(network(gen, channels=3), [0.5], [0.2], LABELS)
    good = bytes_of(gen, 2, 3, 4, 5)
    for name in ("forward", "classify"):
        mine = bundle if name == "forward" else bundle.classify
        single = one if name == "forward" else one.classify
        for dtype in (torch.int64, torch.int32, torch.bool, torch.int8, torch.complex64):
            expect_raises(TypeError, lambda f=mine, d=dtype: f(good.to(d)), f"{name} of pixels in {dtype}")
        shapes = {
            "a grey image": good[:, :1],
            "four channels": good.repeat(1, 2, 1, 1)[:, :4],
            "no channels": good[:, :0],
            "no grey images": good[:0, :1],
            "an image without a batch": good[0],
            "an image without a batch, three pixels high": good[0, :, :3],
            "no dimension of channels": good[:, 0],
            "a video": good[None],
            "videos of three frames": good.unsqueeze(1).expand(2, 3, 3, 4, 5),
            "channels last": good.permute(0, 2, 3, 1),
        }
        for what, pixels in shapes.items():
            expect_raises(ValueError, lambda f=mine, x=pixels: f(x), f"{name} of {what}")
        expect_raises(ValueError, lambda f=single: f(good), f"{name} of three channels, with a mean for one,")


@pytest.mark.parametrize("labels", [LABELS[:3], [*LABELS, "owl"], []], ids=["too few", "too many", "none"])
def test_bad_labels(answer, gen, labels):
    """Another number of labels than logits is a ValueError from classify."""
    bundle = answer.Bundle(network(gen), MEAN, STD, labels)
    pixels = bytes_of(gen, 2, 3, 4, 5)
    expect_equal(bundle(pixels).shape, (2, 4), "bundle(pixels).shape")
    expect_raises(
        ValueError, lambda: bundle.classify(pixels), f"classify with {len(labels)} labels for 4 logits"
    )


def oracle(answer, gen):
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    other = answer.Bundle(network(gen), [0.0] * 3, [1.0] * 3, ["?"] * 4)
    other.load_state_dict(through_a_file(bundle.state_dict()))
    found = []
    for pixels in (bytes_of(gen, 5, 3, 4, 5), floats_of(gen, 2, 3, 6, 4)):
        found.append([other(pixels).detach(), other.classify(pixels), list(other.labels)])
    given = floats_of(gen, 2, 3, 4, 4).requires_grad_()
    found.append(torch.autograd.grad(bundle(given).square().sum(), given)[0])
    for bad in (torch.zeros(2, 1, 4, 4), torch.zeros(3, 4, 4)):
        try:
            bundle(bad)
            found.append("taken")
        except ValueError:
            found.append("refused")
    return found
