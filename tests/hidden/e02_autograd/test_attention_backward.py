"""What grades attention_backward: results, gradients, what is kept, formulas; shapes, large scores."""

from functools import partial

import pytest
import torch

from grader.checks import expect_that, forbid, held_bytes, saved_bytes, unchanged
from grader.checks.contract import Contract, device, dtypes, given, untouched, values

CALL = "attention(q, k, v)"
NAMES = ("q", "k", "v")


def weigher(y):
    """Different numbers in the shape of y: what its sum is weighted by."""
    return torch.arange(1, y.numel() + 1, device=y.device).reshape(y.shape).cos().to(y.dtype)


def right_slope(weights, grad):
    """The gradient of scores, from that of the weights."""
    return weights * (grad - (weights * grad).sum(-1, keepdim=True))


def by_hand(
    q, k, v, causal=False, slope=right_slope, scale=None, back=1.0, masked=True, swap=False, power=-0.5
):
    """Result and gradients; what comes after `causal` is as people get it wrong."""
    scale = q.shape[-1] ** power
    future = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    scores = (scale * q @ k.mT).masked_fill(future & causal, -torch.inf)
    weights = scores.softmax(-1)
    result = weights @ v
    grad = weigher(result)
    seen = weights if masked else (scale * q @ k.mT - scores.logsumexp(-1, keepdim=True)).exp()
    for_scores = slope(seen, grad @ v.mT) * (scale if back == 1.0 else back(scale))
    for_q, for_k = for_scores @ k, for_scores.mT @ q
    if swap and for_q.shape == for_k.shape:
        for_q, for_k = for_k, for_q
    return {"result": result, "gradient of v": seen.mT @ grad, "gradient of q": for_q, "gradient of k": for_k}


def differentiated(answer, q, k, v, causal=False):
    """What the answer gives for the same, by its backward."""
    inputs = [t.detach().requires_grad_() for t in (q, k, v)]
    y = answer.attention(*inputs, causal) if causal else answer.attention(*inputs)
    for_q, for_k, for_v = torch.autograd.grad(y, inputs, weigher(y))
    return {"result": y.detach(), "gradient of v": for_v, "gradient of q": for_q, "gradient of k": for_k}


def draw(gen, *batch, queries=3, keys=5, dim=4, width=2, size=1.0, **options):
    shapes = ((queries, dim), (keys, dim), (keys, width))
    q, k, v = (torch.randn(*batch, *shape, generator=gen) for shape in shapes)
    return given(q * size, k * size, v, **options)


contract = Contract(
    "attention(q, k, v, causal)",
    reference=by_hand,
    use=differentiated,
    inputs=lambda gen: {
        "two rows": draw(gen, 2),
        "as many queries as keys, causal": draw(gen, 3, queries=4, keys=4, dim=3, width=5, causal=True),
        "all of one width": draw(gen, 1, queries=4, keys=4, width=4),
        "a single query": draw(gen, 2, queries=1, keys=6, dim=9, width=3),
    },
    scale=10.0,
    suspects={
        "the gradients of q and k lack 1 / sqrt(dim)": partial(by_hand, back=lambda scale: 1.0),
        "1 / sqrt(dim) counts twice in the gradients of q and k": partial(by_hand, back=lambda s: s * s),
        "softmax is taken for a function of each number alone: w (1 - w)": partial(
            by_hand, slope=lambda w, grad: w * (1 - w) * grad
        ),
        "the sum that softmax's derivative takes off is missing": partial(
            by_hand, slope=lambda w, grad: w * grad
        ),
        "softmax's derivative is missing: weights are no scores": partial(
            by_hand, slope=lambda w, grad: grad
        ),
        "the sum in softmax's derivative is over the queries: each query has its own, over the keys": partial(
            by_hand, slope=lambda w, grad: w * (grad - (w * grad).sum(-2, keepdim=True))
        ),
        "the sum in softmax's derivative is not weighted": partial(
            by_hand, slope=lambda w, grad: w * (grad - grad.sum(-1, keepdim=True))
        ),
        "the mask is forgotten in backward": partial(by_hand, masked=False),
        "the gradients of q and k are swapped": partial(by_hand, swap=True),
        "the scores are not divided by sqrt(dim)": partial(by_hand, power=0.0),
        "the scores are divided by dim: by its root": partial(by_hand, power=-1.0),
        "causal is ignored": lambda q, k, v, causal=False: by_hand(q, k, v),
    },
    job=[values(title="The result and the gradients of q, k and v are right.")],
    fine=[
        values(
            inputs=lambda gen: {
                "no batch": draw(gen),
                "batch and heads": draw(gen, 2, 3, queries=4, keys=4, causal=True),
            },
            name="leading_dimensions",
            title="Any number of dimensions may stand before the last two, or none.",
        ),
        values(
            inputs=lambda gen: {
                "scores up to 1e4": draw(gen, 2, size=70.0),
                "scores up to 1e4, causal": draw(gen, 1, queries=5, keys=5, size=70.0, causal=True),
            },
            name="large_scores",
            title="Scores as large as 1e4 make nothing infinite, and no NaN.",
            scale=1e3,
        ),
        dtypes(torch.float64),
        untouched(),
        device(),
    ],
)


@pytest.fixture
def many(gen):
    """q, k and v of 200 queries and keys: 3200 bytes each, and weights of 160 000."""
    call = draw(gen, 1, queries=200, keys=200, width=4)
    return [t.requires_grad_() for t in call.args]


@pytest.mark.parametrize("causal", [False, True])
def test_no_weights_are_kept(answer, many, causal):
    """Nothing of the size (queries, keys) is kept for backward."""
    for bytes_of, how in [(saved_bytes, "saves"), (held_bytes, "holds")]:
        found = bytes_of(lambda: answer.attention(*many, causal))
        expect_that(
            found < 30_000,
            f"{CALL} {how} something of the size (queries, keys) for backward, causal={causal}",
            yours=f"{found:,} bytes; q, k, v and the result have {4 * many[0].nbytes:,}",
            likely="weights, scores or a mask: backward can make them anew",
        )


def test_formulas(answer, many):
    """forward does without PyTorch's attention, and backward without autograd."""
    with forbid(CALL, "scaled_dot_product_attention", "grad", "backward"):
        y = answer.attention(*many)
    with forbid(f"backward of {CALL}", "scaled_dot_product_attention", "grad", "backward"):
        y.grad_fn.apply(weigher(y))


@pytest.mark.fine
def test_incoming_gradient_is_left_alone(answer, gen):
    """The gradient that comes in is left as it is; it may be expanded from one number."""
    inputs = [t.requires_grad_() for t in draw(gen, 2).args]
    y = answer.attention(*inputs)
    grad = weigher(y)
    with unchanged(f"backward of {CALL}", gradient=grad):
        torch.autograd.grad(y, inputs, grad, retain_graph=True)
    y.sum().backward()


def oracle(answer, gen):
    def result(**options):
        def case(gen):
            call = draw(gen, 2, queries=4, keys=4, **options)
            return answer.attention(*call.args, **call.kwargs)

        return case

    def gradient(place, **options):
        def case(gen):
            call = draw(gen, 2, queries=4, keys=4, width=4, **options)
            inputs = [t.double().requires_grad_(n == place) for n, t in enumerate(call.args)]
            y = answer.attention(*inputs, **call.kwargs)
            return torch.autograd.grad(y, inputs[place], weigher(y))[0].float()  # in float64: terms cancel

        return case

    return {
        "a result": result(),
        "a result, causal": result(causal=True),
        **{f"the gradient of {name}": gradient(place) for place, name in enumerate(NAMES)},
        "the gradient of k, causal": gradient(1, causal=True),
    }
