"""What grades bundle_preprocessing: numbers, labels, the state dict; dtypes, copies, gradients, refusals."""

import io
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.devices import count_traffic, expect_no_traffic
from grader.checks.registered import randomize

MEAN, STD = [0.5, 0.375, 0.3125], [0.1875, 0.25, 0.5]  # float32 has them: double() changes none
LABELS = ["cat", "a dog, or perhaps a wolf", "Käfer", "うなぎ"]


class Network(nn.Module):
    """A convolution to four classes, with dropout that tests keep on or off."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 2)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(self.conv(x)).mean((2, 3))


def network(gen):
    module = Network()
    randomize(module, gen)
    return module


def other_bundle(answer, gen):
    return answer.Bundle(network(gen), [0.0] * 3, [1.0] * 3, ["?"] * 4)


def bytes_of(gen, *shape):
    return torch.randint(256, shape, generator=gen, dtype=torch.uint8)


def normalised(pixels, mean, std):
    x = pixels.double() / (255 if pixels.dtype == torch.uint8 else 1)
    mean, std = (torch.as_tensor(t).double().view(-1, 1, 1) for t in (mean, std))
    return (x - mean) / std


def mistakes(pixels, mean, std):
    m, s = torch.tensor(mean).double().view(-1, 1, 1), torch.tensor(std).double().view(-1, 1, 1)
    x, is_bytes = pixels.double(), pixels.dtype == torch.uint8
    scaled = x / 255 if is_bytes else x
    made = {
        "bytes are not divided by 255": lambda: (x - m) / s,
        "floating pixels are divided by 255, too": lambda: (x / 255 - m) / s,
        "it is multiplied by std": lambda: (scaled - m) * s,
        "it is divided before mean is subtracted": lambda: scaled / s - m,
        "the mean of all channels is subtracted": lambda: (scaled - m.mean()) / s,
        "std is not used": lambda: scaled - m,
        "mean is not used": lambda: scaled / s,
        "mean and std run along the last dimension: channels are the second": lambda: (
            (scaled - m.view(-1)) / s.view(-1) if pixels.shape[-1] == len(m) else scaled
        ),
        "bytes are divided by 256": lambda: (x / 256 - m) / s,
    }
    return {told: lambda make=make: make().flatten(1).float() for told, make in made.items()}


def numbered(shape):
    """A label for each number of an image: Flatten hands all of them on."""
    return [str(i) for i in range(math.prod(shape))]


def through_a_file(state):
    """What comes back from a file that is read safely."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_numbers(answer, gen):
    """Bytes are divided by 255, floats are not, and each channel has its own mean and deviation."""
    for shape in ((2, 3, 4, 5), (1, 1, 2, 2), (2, 3, 3, 3)):
        draw = lambda low, shape=shape: low + torch.rand(shape[1], generator=gen)  # noqa: E731
        mean, std = draw(0.0).tolist(), draw(0.1).tolist()
        bundle = answer.Bundle(nn.Flatten(), mean, std, numbered(shape[1:]))
        dark = torch.randint(2, shape, generator=gen, dtype=torch.uint8)  # looks like 0 to 1
        floats = 1.4 * torch.rand(shape, generator=gen) - 0.2
        for what, pixels in {"bytes": bytes_of(gen, *shape), "dark bytes": dark, "floats": floats}.items():
            wanted = normalised(pixels, mean, std).flatten(1).float()
            call = f"bundle(pixels), where the network is Flatten and the pixels are {what}"
            expect_close(bundle(pixels), wanted, call, scale=20.0, suspects=mistakes(pixels, mean, std))


def test_labels(answer, gen):
    """classify gives the label of the largest logit of each image."""
    bundle, pixels = answer.Bundle(network(gen), MEAN, STD, LABELS), bytes_of(gen, 40, 3, 4, 5)
    for batch in (pixels, pixels[:1]):
        wanted = [LABELS[i] for i in bundle(batch).argmax(1).tolist()]
        expect_equal(bundle.classify(batch), wanted, f"bundle.classify of {len(batch)} images")


def test_state_dict(answer, gen):
    """Weights, numbers and labels go together in the state dict."""
    bundle, other = answer.Bundle(network(gen), MEAN, STD, LABELS), other_bundle(answer, gen)
    pixels = bytes_of(gen, 9, 3, 4, 5)
    other.load_state_dict(through_a_file(bundle.state_dict()))
    call, wanted = "a bundle that loads the state dict of another", bundle(pixels).detach()
    twin = answer.Bundle(
        other.network if hasattr(other, "network") else network(gen), [0.0] * 3, [1.0] * 3, LABELS
    )
    suspects = {"mean and std are not in the state dict": lambda: twin(pixels).detach()}
    expect_close(other(pixels).detach(), wanted, f"{call}(pixels)", suspects=suspects)
    suspects = {"the labels are not in the state dict": lambda: ["?"] * 4}
    expect_equal(list(other.labels), LABELS, f"list(labels) of {call}", suspects=suspects)
    expect_equal(other.classify(pixels), bundle.classify(pixels), f"classify of {call}")


def test_parameters(answer, gen):
    """Only the network is trained."""
    module = network(gen)
    mine = {id(p) for p in answer.Bundle(module, MEAN, STD, LABELS).parameters()}
    same = mine == {id(p) for p in module.parameters()}
    expect_that(
        same, "bundle.parameters() are not those of the network", likely="mean and std are no buffers"
    )


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float32], ids=str)
def test_dtypes(answer, gen, dtype):
    """The network computes in the dtype that the bundle was moved to, for pixels of any."""
    bundle, seen = answer.Bundle(network(gen), MEAN, STD, LABELS).to(dtype), []
    layer = next(m for m in bundle.modules() if isinstance(m, Network))
    layer.register_forward_pre_hook(lambda _m, args: seen.append(args[0].detach()))
    floats = torch.rand(2, 3, 4, 5, generator=gen, dtype=torch.float64)
    for pixels in (bytes_of(gen, 2, 3, 4, 5), floats, floats.float(), floats.bfloat16()):
        call = f"bundle.to({dtype})(pixels in {pixels.dtype})"
        wanted = normalised(pixels, MEAN, STD).to(dtype)
        bundle(pixels)
        expect_close(seen[-1], wanted, f"what the network is given in {call}", scale=8.0)
    bare = answer.Bundle(nn.Flatten(), MEAN, STD, numbered((3, 4, 5))).to(dtype)(bytes_of(gen, 2, 3, 4, 5))
    expect_equal(bare.dtype, dtype, f"the dtype of a bundle in {dtype} around a network without weights")


@pytest.mark.fine
def test_in_something_larger(answer, gen):
    """All goes along as a part of something larger, whatever the labels hold."""
    labels = ["", "a\0b\nc", "".join(map(chr, range(300))), "\0"]
    bundle, other = answer.Bundle(network(gen), MEAN, STD, labels), other_bundle(answer, gen)
    whole, empty = (nn.ModuleDict({"sound": nn.Linear(2, 2), "vision": b}) for b in (bundle, other))
    empty.load_state_dict(through_a_file(whole.state_dict()))
    pixels, call = (
        bytes_of(gen, 9, 3, 4, 5),
        "a bundle that loads the state dict of another, in a larger model",
    )
    expect_close(other(pixels).detach(), bundle(pixels).detach(), call)
    expect_equal(list(other.labels), labels, f"list(labels) of {call}")


@pytest.mark.fine
def test_own_copies(answer, gen):
    """Tensors and lists that were given can change afterwards."""
    mean, std, labels, pixels = torch.tensor(MEAN), torch.tensor(STD), list(LABELS), bytes_of(gen, 2, 3, 4, 5)
    bundle = answer.Bundle(network(gen), mean, std, labels)
    wanted = bundle(pixels).detach()
    mean.zero_()
    std.fill_(9.0)
    labels[:] = "abcd"
    expect_close(bundle(pixels).detach(), wanted, "bundle(pixels) after the tensors it was made of changed")
    expect_equal(list(bundle.labels), LABELS, "list(bundle.labels) after the list it was made of changed")


@pytest.mark.fine
def test_gradients(answer, gen):
    """Gradients reach floating pixels, also in evaluation mode, which classify leaves as it is."""
    bundle = answer.Bundle(network(gen), MEAN, STD, LABELS)
    for mode in (True, False):
        pixels = torch.rand(2, 3, 4, 5, generator=gen).requires_grad_()
        bundle.train(mode).classify(pixels.detach())
        expect_equal(bundle.training, mode, "bundle.training after classify(pixels)")
        bundle(pixels).sum().backward()
        expect_that(pixels.grad is not None, f"floating pixels get no gradient with bundle.training {mode}")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """Nothing leaves the device but the class numbers, once; a bundle that loads stays there."""
    bundle, moved = answer.Bundle(network(gen), MEAN, STD, LABELS), other_bundle(answer, gen).to(device)
    moved.load_state_dict(through_a_file(bundle.state_dict()))
    pixels = bytes_of(gen, 5, 3, 4, 5)
    there, call = pixels.to(device), "bundle(pixels) on another device, after load_state_dict,"
    with count_traffic() as traffic:
        yours = moved(there)
    expect_no_traffic(traffic, call)
    expect_close(yours.detach().cpu(), bundle(pixels).detach(), call)
    with count_traffic() as traffic:
        moved.classify(there)
    expect_equal(
        (traffic.to_device, traffic.to_host), (0, 1), "the copies to the device and back in classify"
    )
    expect_that(traffic.numbers <= 5, "classify copies more than the class numbers to the host")


@pytest.mark.fine
def test_refused(answer, gen):
    """Numbers that do not fit, and pixels of other shapes and dtypes."""
    bundle, pixels = answer.Bundle(network(gen), MEAN, STD, LABELS), torch.rand(2, 3, 4, 5, generator=gen)
    for std in ([1.0, 1.0], [1.0], [1.0, 0.0, 1.0], [1.0, -1.0, 1.0]):
        call = f"Bundle(network, {MEAN}, {std}, labels)"
        expect_raises(ValueError, lambda s=std: answer.Bundle(network(gen), MEAN, s, LABELS), call)
    for bad in (pixels[:, :1], pixels[0], pixels[None], pixels.permute(0, 2, 3, 1)):
        for name in ("forward", "classify"):
            call = f"bundle.{name}(pixels) of shape {tuple(bad.shape)}"
            expect_raises(ValueError, lambda n=name, x=bad: getattr(bundle, n)(x), call)
    for dtype in (torch.int64, torch.bool):
        call = f"bundle(pixels) in {dtype}"
        expect_raises(TypeError, lambda d=dtype: bundle(pixels.to(d)), call)
    for labels in (LABELS[:3], [*LABELS, "more"]):
        wrong = answer.Bundle(network(gen), MEAN, STD, labels)
        call = f"classify with {len(labels)} labels for 4 logits"
        expect_raises(ValueError, lambda w=wrong: w.classify(pixels), call)


def oracle(answer, gen):
    def bundled(gen):
        return answer.Bundle(network(gen), MEAN, STD, LABELS), bytes_of(gen, 20, 3, 4, 5)

    def logits(gen):
        bundle, pixels = bundled(gen)
        return bundle(pixels).detach()

    def labels(gen):
        bundle, pixels = bundled(gen)
        return bundle.classify(pixels)

    def loaded(gen):
        (bundle, pixels), other = bundled(gen), other_bundle(answer, gen)
        other.load_state_dict(bundle.state_dict())
        return other, pixels

    def trained(gen):
        bundle, pixels = bundled(gen)
        with torch.no_grad():
            for p in bundle.parameters():  # mean and std are none
                p.mul_(1.0 + 0.5 * torch.rand((), generator=gen))
        return bundle(pixels).detach()

    def floats(gen):
        flat = answer.Bundle(nn.Flatten(), [0.2, 0.7], [0.5, 2.0], numbered((2, 3, 2)))
        return flat(torch.rand(2, 2, 3, 2, generator=gen))

    def of_another(gen):
        other, pixels = loaded(gen)
        return other(pixels).detach()

    def labels_of_another(gen):
        other, pixels = loaded(gen)
        return [list(other.labels), other.classify(pixels)]

    return {
        "logits for bytes": logits,
        "labels of twenty images": labels,
        "logits of another bundle that has loaded": of_another,
        "labels of another bundle that has loaded": labels_of_another,
        "normalised floats": floats,
        "logits when all parameters have changed": trained,
    }
