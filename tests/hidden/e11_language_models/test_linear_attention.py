"""What grades linear_attention: sequences in chunks, steps, gradients; memory, half precision, shapes."""

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    given,
    gradients,
    strides,
    untouched,
    values,
)


def phi(x):
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def read(q, k, v, S, z, *, of_q=phi, of_k=phi, seen="new", divided=True):
    """One token; what comes after z is as people get it wrong."""
    q, k, old = of_q(q), of_k(k), (S, z)
    S, z = S + k[..., :, None] * v[..., None, :], z + k
    of, by = old if seen == "old" else (S, z)
    y = (q[..., :, None] * of).sum(-2)
    return (y / (q * by).sum(-1, keepdim=True) if divided else y), S, z


def nothing(q, k, v):
    return k[..., :0, :].mT @ v[..., :0, :], k[..., :0, :].sum(-2)


def token_by_token(q, k, v, chunk=64, **mistake):
    (S, z), found = nothing(q, k, v), []
    if not q.shape[-2]:
        return v, S, z
    for t in range(q.shape[-2]):
        y, S, z = read(q[..., t, :], k[..., t, :], v[..., t, :], S, z, **mistake)
        found.append(y)
    return torch.stack(found, -2), S, z


def by_mask(mask):
    """Attention where token i sees the tokens that mask(i, j, chunk) allows; S and z are right."""

    def wrong(q, k, v, chunk=64):
        i = torch.arange(q.shape[-2])
        scores = (phi(q) @ phi(k).mT) * mask(i[:, None], i[None], chunk)
        return scores @ v / scores.sum(-1, keepdim=True), *token_by_token(q, k, v)[1:]

    return wrong


def own_normaliser(q, k, v, chunk=64):
    """z is forgotten between chunks, S is not."""
    i, (_, S, z) = torch.arange(q.shape[-2]), token_by_token(q, k, v)
    scores = (phi(q) @ phi(k).mT).tril()
    total = (scores * (i[:, None] // chunk == i[None] // chunk)).sum(-1, keepdim=True)
    return scores @ v / total, S, z


def first_chunks(q, k, v, chunk=64):
    """S and z as they are before the last chunk."""
    before = (q.shape[-2] - 1) // chunk * chunk
    state = token_by_token(q[..., :before, :], k[..., :before, :], v[..., :before, :])[1:] if before else None
    return token_by_token(q, k, v)[0], *(state or nothing(q, k, v))


FEATURES = {
    "phi is elu without the 1": F.elu,
    "phi is relu: elu(x) + 1 is asked for": torch.relu,
    "phi is exp": torch.exp,
}
MISTAKES = {
    **{told: {"of_q": f, "of_k": f} for told, f in FEATURES.items()},
    "phi is left out for k": {"of_k": lambda x: x},
    "phi is left out for q": {"of_q": lambda x: x},
    "y is not divided by phi(q) @ z": {"divided": False},
}


def suspects(function, more):
    made = {
        told: lambda *args, m=mistake, **options: function(*args, **options, **m)
        for told, mistake in MISTAKES.items()
    }
    return made | more


def drawn(gen, *shape, value_dim=3):
    q, k = torch.randn(2, *shape, generator=gen)
    return q, k, torch.randn(*shape[:-1], value_dim, generator=gen)


def state(gen, *shape, value_dim=3):
    """A token, and S and z after others."""
    q, k, v = drawn(gen, *shape, value_dim=value_dim)
    keys, others = torch.rand(2, 5, *shape, generator=gen)
    S = (keys[..., None] * others[..., :1].expand(*keys.shape[:-1], value_dim)[..., None, :]).sum(0)
    return given(q, k, v, S + 0.1 * torch.randn(S.shape, generator=gen), keys.sum(0))


def sequences(gen):
    return {
        "three chunks": given(*drawn(gen, 2, 6, 4), 2),
        "one sequence": given(*drawn(gen, 7, 4)),
        "a last chunk that is shorter": given(*drawn(gen, 2, 3, 11, 4, value_dim=5), 4),
        "chunks of one token": given(*drawn(gen, 2, 5, 3), chunk=1),
        "a chunk longer than the sequence": given(*drawn(gen, 2, 5, 5, value_dim=5), chunk=9),
    }


def far(gen):
    """Where elu(x) + 1 is 0 in float32, and where exp(x) is inf."""
    q, k, v = drawn(gen, 9, 4)
    return {
        "numbers near -30": given(q - 30, k - 30, v, 4),
        "numbers near 100": given(q + 100, k + 100, v, 4),
    }


whole = Contract(
    "linear_attention(q, k, v, chunk)",
    reference=token_by_token,
    inputs=sequences,
    gradient="q k v",
    ulps=200,
    dims=("*batch time value_dim", "*batch dim value_dim", "*batch dim"),
    suspects=suspects(
        token_by_token,
        {
            "a token does not see itself": lambda q, k, v, chunk=64: token_by_token(q, k, v, seen="old"),
            "tokens see those after them in their chunk": by_mask(
                lambda i, j, chunk: j // chunk <= i // chunk
            ),
            "tokens see those after them": by_mask(lambda i, j, chunk: j >= 0),
            "each chunk begins anew, without S and z of those before": by_mask(
                lambda i, j, chunk: (j <= i) & (j // chunk == i // chunk)
            ),
            "z is forgotten between chunks": own_normaliser,
            "S and z are those before the last chunk": first_chunks,
        },
    ),
    fine=[
        flat_cost(
            lambda n: given(*torch.ones(3, n, 2), chunk=n),
            over="the tokens of a chunk",
            name="no_loop",
        ),
        dtypes(torch.float64, name="float64", title="float64 is computed in float64."),
        values(inputs=far, name="far_below_0", title="Far below 0, phi(x) is exp(x), not 0."),
        gradients(  # there they are differences of numbers that are much larger
            "q k v",
            inputs=far,
            ulps=4000,
            name="far_gradients",
            title="Far from 0, gradients are right as well.",
        ),
        strides(),
        empties(
            inputs=lambda gen: [
                given(*(torch.ones(shape) for _ in range(3))) for shape in [(0, 4, 2), (2, 0, 3), (0, 2)]
            ],
            title="Without tokens y is empty, and S and z are 0; an empty batch gives an empty result.",
        ),
        untouched(),
        device(),
    ],
)
step = Contract(
    "step(q, k, v, S, z)",
    reference=read,
    inputs=lambda gen: {
        "a token": state(gen, 4),
        "a batch": state(gen, 5, 4),
        "a batch of heads": state(gen, 2, 3, 5, value_dim=6),
    },
    gradient="q k v",
    ulps=200,
    dims=("*batch value_dim", "*batch dim value_dim", "*batch dim"),
    suspects=suspects(
        read,
        {
            "y is read from S and z as they were: the token sees itself": lambda *given: read(
                *given, seen="old"
            )
        },
    ),
    fine=[
        dtypes(torch.float64, name="float64", title="float64 is computed in float64."),
        untouched(),
        device(),
    ],
)


def test_no_matrix_of_tokens(answer, gen):
    """No tensor has a number for each pair of tokens."""
    inputs, size = drawn(gen, 256, 4), 256 * 256 * 4
    used = peak_bytes(lambda: answer.linear_attention(*inputs))
    told = "linear_attention(q, k, v) of 256 tokens takes too much memory"
    facts = {"yours": f"{used} bytes", "wanted": f"less than {size}"}
    expect_that(used < size, told, **facts, likely="a matrix of (time, time)")


@pytest.mark.fine
def test_memory(answer, gen):
    """A sequence takes a few tensors of its size, and what a chunk needs."""
    q, k, v = drawn(gen, 512, 32, value_dim=32)
    used = peak_bytes(lambda: answer.linear_attention(q, k, v, 16)) / q.nbytes
    told = "linear_attention(q, k, v, 16) of 512 tokens takes too much memory"
    facts = {"yours": f"{used:.1f} times the memory of q", "wanted": "at most 20 times"}
    expect_that(used <= 20, told, **facts, likely="a matrix of (dim, value_dim) for each token")


@pytest.mark.fine
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, kind):
    """Half precision is computed in float32: y is rounded once, S and z are not rounded."""
    q, k, v = (t.to(kind) for t in drawn(gen, 2, 300, 4))
    half_a_step = 0.6 * torch.finfo(kind).eps / torch.finfo(torch.float64).eps
    exact = [t.double() for t in (q, k, v)]
    y, *wanted = token_by_token(*exact)
    last = read(*(t[..., -1, :] for t in exact), *wanted)
    for about, yours, (right, S, z) in (
        ("linear_attention(q, k, v)", lambda: answer.linear_attention(q, k, v), (y, *wanted)),
        (
            "step(q, k, v, S, z)",
            lambda: answer.step(*(t[..., -1, :] for t in (q, k, v)), *(t.float() for t in wanted)),
            last,
        ),
    ):
        mine = yours()
        expect_equal(mine[0].dtype, kind, f"the dtype of y of {about} in {kind}")
        expect_close(mine[0].double(), right, f"y of {about} in {kind}", ulps=half_a_step, scale=0.1)
        for name, state, full in zip(("S", "z"), mine[1:], (S, z), strict=True):
            expect_equal(state.dtype, torch.float32, f"the dtype of {name} of {about} in {kind}")
            expect_close(state, full.float(), f"{name} of {about} in {kind}", ulps=200)
