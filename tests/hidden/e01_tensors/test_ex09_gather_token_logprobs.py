"""What grades gather_token_logprobs: values, precision, large and forbidden logits, gradients, cost."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost, expect_gradients, unchanged
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, on_host

CALL = "token_logprobs(logits, targets)"
SIZES = [(2, 3, 5), (4, 2, 3), (4, 4, 4)]


def draw(sizes, gen, dtype=torch.float32):
    batch, time, vocab = sizes
    logits = (4 * torch.randn(sizes, generator=gen, dtype=torch.float64)).to(dtype)
    return logits, torch.randint(vocab, (batch, time), generator=gen)


# Results near 0 come out of logits of about 10, and carry their rounding.
SCALE = 10.0


def picked(logits, targets):
    """In float64, by a mask: no token but the target counts."""
    logprobs = logits.double().log_softmax(-1)
    is_target = targets.unsqueeze(-1) == torch.arange(logits.shape[-1])
    return logprobs.masked_fill(~is_target, 0.0).sum(-1)


def mistakes(logits, targets):
    """What people take instead, for `suspects`."""

    def at(targets, scores=None, dim=-1):
        scores = logits.log_softmax(dim) if scores is None else scores
        return scores.gather(-1, targets.unsqueeze(-1)).squeeze(-1)

    return {
        "the logits are not normalised: log_softmax over the vocabulary comes first": lambda: at(
            targets, logits
        ),
        "log_softmax runs over time: dim=-1 is the vocabulary": lambda: at(targets, dim=1),
        "log_softmax runs over the batch: dim=-1 is the vocabulary": lambda: at(targets, dim=0),
        "the probability, not its logarithm": lambda: at(targets).exp(),
        "each position takes the target of the next one": lambda: at(targets.roll(-1, 1)),
        "the target 0 is taken for padding: it is a token like any other": lambda: (
            at(targets) * (targets > 0)
        ),
    }


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_log_probability_of_each_target(answer, gen, sizes):
    """Each position gets the log-softmax over the vocabulary, at its own target."""
    logits, targets = draw(sizes, gen)
    wanted, suspects = picked(logits, targets).float(), mistakes(logits, targets)
    yours = answer.token_logprobs(logits, targets)
    expect_close(yours, wanted, CALL, dims="batch time", scale=SCALE, suspects=suspects)


def test_sizes_of_one_and_empty(answer, gen):
    """Dimensions of size 1 stay, and an empty batch gives an empty result."""
    for sizes in [(1, 4, 5), (4, 1, 5), (1, 1, 5), (2, 3, 1), (0, 3, 5), (2, 0, 5), (0, 0, 5)]:
        logits, targets = draw(sizes, gen)
        wanted = picked(logits, targets).float()
        yours = answer.token_logprobs(logits, targets)
        expect_close(yours, wanted, f"{CALL} for logits of {sizes}", dims="batch time", scale=SCALE)


def test_strided_inputs(answer, gen):
    """Transposed and sliced inputs are read like any others, and nothing that went in is changed."""
    logits, targets = draw((4, 3, 5), gen)
    logits, targets = logits.transpose(0, 1)[:, 1:], targets.t()[:, 1:]
    wanted = picked(logits, targets).float()
    with unchanged(CALL, logits=logits, targets=targets):
        yours = answer.token_logprobs(logits, targets)
    expect_close(yours, wanted, f"{CALL} of transposed inputs", dims="batch time", scale=SCALE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_computed_in_float32(answer, gen, dtype):
    """float16 and bfloat16 logits become float32 first: the result has the digits of float32."""
    logits, targets = draw((2, 3, 130), gen, dtype)
    targets[0, 0], targets[1, 2] = 0, 129  # the first and the last token are like any others
    wanted = picked(logits, targets).float()
    call = f"{CALL} of {dtype} logits"
    expect_close(answer.token_logprobs(logits, targets), wanted, call, dims="batch time")
    with default_dtype(torch.float64):
        yours = answer.token_logprobs(logits, targets)
    expect_close(yours, wanted, f"{call} while PyTorch's default dtype is float64", dims="batch time")


def test_float64_is_kept(answer, gen):
    """float64 logits are computed and returned in float64."""
    for sizes in ((2, 3, 5), (0, 3, 5)):
        logits, targets = draw(sizes, gen, torch.float64)
        wanted = picked(logits, targets)
        yours = answer.token_logprobs(logits, targets)
        expect_close(yours, wanted, f"{CALL} of float64 logits of {sizes}", dims="batch time", scale=SCALE)


def test_large_logits(answer, gen):
    """Logits of 10000 and unlikely tokens give finite numbers, and gradients."""
    rows = [[1e4, 1e4, 0.0], [-1e4, -1e4, -1e4], [300.0, 0.0, 299.0], [0.0, 5.0, -250.0]]
    targets = torch.tensor([[1, 2, 1, 2]])
    for dtype in (torch.float32, torch.float64):
        logits = torch.tensor([rows], dtype=dtype)
        wanted = picked(logits, targets).to(dtype)
        # Logits of this size are themselves only known up to their rounding.
        yours = answer.token_logprobs(logits, targets)
        call = f"{CALL} of large {dtype} logits"
        expect_close(yours, wanted, call, dims="batch time", scale=1e4, ulps=4)
    unlikely, targets = torch.tensor([[[0.0, -300.0, -1.0], [2.0, 0.0, -250.0]]]), torch.tensor([[1, 2]])
    fn, reference = (lambda x: answer.token_logprobs(x, targets)), (lambda x: picked(x, targets))
    call = f"{CALL} of unlikely targets"
    expect_gradients(fn, [unlikely], reference, gen=gen, call=call, names="logits")


def test_forbidden_tokens(answer):
    """Logits of -inf leave the other tokens their values; a target that is not allowed gets -inf."""
    inf = math.inf
    logits = torch.tensor([[[1.0, -inf, 2.0, 0.5], [-inf, 3.0, -inf, -inf], [0.0, -inf, 1.0, 2.0]]])
    targets = torch.tensor([[2, 1, 1]])
    exact = torch.tensor([[-math.log(1 + math.exp(-1) + math.exp(-1.5)), 0.0, -inf]], dtype=torch.float64)
    for dtype in (torch.float32, torch.float16, torch.float64):
        yours = answer.token_logprobs(logits.to(dtype), targets)
        wanted = exact.to(torch.promote_types(dtype, torch.float32))
        expect_close(yours, wanted, f"{CALL} with {dtype} logits of -inf", dims="batch time", scale=1.0)
    low = torch.tensor([[[-inf, -1e4, -1e4], [-1e4, -inf, -inf], [-inf, -3e4, -1e4]]])
    wanted = torch.tensor([[-math.log(2), 0.0, -2e4]])
    yours = answer.token_logprobs(low, torch.tensor([[1, 0, 1]]))
    expect_close(yours, wanted, f"{CALL} with logits of -inf and -1e4", scale=1e4, ulps=4)


def test_gradient(answer, gen):
    """The gradient reaches every logit of a position: those of the target and those of all others."""
    for sizes, dtype in [
        ((3, 4, 5), torch.float64),
        ((3, 4, 5), torch.bfloat16),
        ((2, 3, 1), torch.float32),
    ]:
        logits, targets = draw(sizes, gen, dtype)
        fn = lambda x, targets=targets: answer.token_logprobs(x, targets)  # noqa: E731
        reference = lambda x, targets=targets: picked(x, targets)  # noqa: E731
        expect_gradients(
            fn, [logits], reference, gen=gen, call=f"{CALL} of {dtype} logits of {sizes}", names="logits"
        )


def test_backward_twice(answer, gen):
    """A second backward through the same graph gives the same gradient, whatever becomes of the targets."""
    logits, targets = draw((2, 3, 5), gen)
    total = answer.token_logprobs(logits.requires_grad_(), targets).sum()
    first, second = (torch.autograd.grad(total, logits, retain_graph=True)[0].clone() for _ in range(2))
    expect_equal(second, first, "the gradient of logits, in a second backward through the same graph")
    unused = answer.token_logprobs(logits, targets).sum()  # no backward has come before
    targets.add_(1).remainder_(5)  # the caller uses the memory again
    for graph in (total, unused):
        try:
            (late,) = torch.autograd.grad(graph, logits)
        except RuntimeError:
            continue  # autograd has seen the write
        expect_equal(
            late, first, "the gradient of logits, in a backward after the caller has changed targets"
        )


def test_gradient_beside_forbidden_tokens(answer, gen):
    """Logits of -inf get a gradient of zero, the others a finite one."""
    logits, targets = draw((2, 3, 5), gen)
    targets = targets.clamp(max=3)
    logits[..., 4] = -math.inf
    logits[0, 1, (targets[0, 1] + 1) % 4] = -math.inf
    fn, reference = (lambda x: answer.token_logprobs(x, targets)), (lambda x: picked(x, targets))
    expect_gradients(fn, [logits], reference, gen=gen, call=f"{CALL} with logits of -inf", names="logits")


def test_stays_on_the_device(answer, device, gen):
    """Logits on another device are read there: no number is copied to the host."""
    for sizes, dtype in [((2, 3, 5), torch.float32), ((1, 1, 5), torch.float16)]:
        logits, targets = draw(sizes, gen, dtype)
        wanted = picked(logits, targets).float()
        there = logits.to(device), targets.to(device)
        with count_traffic() as traffic:
            yours = answer.token_logprobs(*there)
        expect_equal(yours.device, there[0].device, f"the device of {CALL}")
        expect_close(on_host(yours), wanted, f"{CALL} of {dtype} logits", scale=SCALE)
        copies = traffic.to_host + traffic.syncs
        expect_equal(copies, 0, f"the number of copies to the host, and waits for one, by {CALL}")


def test_no_loop(answer, gen):
    """The cost is the same for 6 and for 24 sequences, positions or tokens of the vocabulary."""
    for over, shape in [("batch", "n23"), ("time", "2n3"), ("vocab", "23n")]:
        inputs = {n: draw([n if s == "n" else int(s) for s in shape], gen) for n in (6, 24)}
        expect_flat_cost(lambda n: lambda: answer.token_logprobs(*inputs[n]), CALL, over=over)  # noqa: B023


def oracle(answer, gen):
    logits = (3 * torch.randn(2, 4, 6, generator=gen)).requires_grad_()
    targets = torch.randint(6, (2, 4), generator=gen)
    logprobs = answer.token_logprobs(logits, targets)
    logprobs.backward(torch.randn(logprobs.shape, generator=gen))
    return [logprobs.detach(), logits.grad, answer.token_logprobs(logits.detach().bfloat16(), targets)]
