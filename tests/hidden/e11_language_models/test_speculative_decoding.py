"""What grades speculative_decoding: what is accepted, the distribution of the result, calls; streams."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, global_rng_untouched
from grader.checks.contract import Contract, dtypes, given, untouched, values

RUNS = 1500


def proposal(gen, refused, gamma=4, vocab=11):
    """Tokens that are likelier and less likely for the target, of which those at `refused` are refused."""
    q, p = (torch.randn(n, vocab, generator=gen).mul(1.5).softmax(-1) for n in (gamma, gamma + 1))
    ratios, proposed, uniforms = p[:-1] / q, [], []
    for i, row in enumerate(ratios):
        x = int(row.argmin() if i in refused or i % 2 else row.argmax())
        proposed.append(x)
        uniforms.append((1 + row[x]) / 2 if i in refused else min(row[x] * 0.7, torch.tensor(0.9)))
    return given(torch.tensor(proposed), q, p, torch.stack(uniforms))


def judged_right(
    proposed,
    q,
    p,
    uniforms,
    *,
    ratio=lambda p, q: p / q,
    behind=False,
    rest=lambda p, q: (p - q).clamp(min=0),
    norm=True,
    shift=0,
    bonus=lambda q, p: p[-1],
):
    """Leviathan's Algorithm 1, token by token; what comes after the star is as people get it wrong."""
    stays = [
        bool(u <= ratio(p[i, x], q[i, x])) for i, (x, u) in enumerate(zip(proposed, uniforms, strict=True))
    ]
    count = sum(stays) if behind else [*stays, False].index(False)
    if count == len(stays):
        return bonus(q, p), torch.tensor(count)
    place = min(count + shift, len(stays) - 1)
    left = rest(p[place], q[place])
    return left / left.sum() if norm else left, torch.tensor(count)


def wrong(**how):
    return lambda *given: judged_right(*given, **how)


def judged(answer, *args):
    """The distribution of the next token, and how many stay."""
    count, rest = answer.accept(*args)
    return rest, torch.tensor(int(count))


accept = Contract(
    "accept(proposed, q, p, uniforms)",
    reference=judged_right,
    use=judged,
    inputs=lambda gen: {
        "the second is refused": proposal(gen, [1]),
        "the first and the third are refused": proposal(gen, [0, 2]),
        "the last is refused": proposal(gen, [4], gamma=5),
        "none is refused": proposal(gen, []),
        "one proposal, refused": proposal(gen, [0], gamma=1),
    },
    dims=("token", ""),
    ulps=100,
    suspects={
        "the ratio is upside down: it is the target's chance by the draft's": wrong(ratio=lambda p, q: q / p),
        "a token is refused wherever the draft likes it more: it stays with chance p / q": wrong(
            ratio=lambda p, q: (p >= q).double()
        ),
        "tokens behind the first that is refused count as well": wrong(behind=True),
        "after a refusal it is p as it stands: q is to be taken off": wrong(rest=lambda p, q: p),
        "the rest is q - p: it is what the draft gives too rarely": wrong(
            rest=lambda p, q: (q - p).clamp(min=0)
        ),
        "the rest is the distance of p and q: what is negative becomes 0": wrong(
            rest=lambda p, q: (p - q).abs()
        ),
        "the rest is not divided by its sum": wrong(norm=False),
        "the rest is that of the place behind the refused token": wrong(shift=1),
        "after no refusal it is p's last row but one, which told of the last proposal": wrong(
            bonus=lambda q, p: p[-2]
        ),
    },
    fine=[dtypes(torch.float64, title="Probabilities in float64 stay so."), untouched()],
)


class Model:
    """Logits from a table, by the last token; it notes how many positions each call has."""

    def __init__(self, table):
        self.table, self.calls = table, []

    def __call__(self, ids):
        expect_that(
            ids.dim() == 2, "a model is called with ids that are not (1, time)", yours=tuple(ids.shape)
        )
        self.calls.append(ids.shape[1])
        return self.table[ids]


def sure(gen, vocab):
    """Logits of a model that knows after each token which one comes next."""
    return 500 * torch.eye(vocab)[torch.randperm(vocab, generator=gen)]


def greedy(target, draft, prompt, max_new_tokens, gamma, generator):
    ids = prompt.tolist()
    for _ in range(max_new_tokens):
        ids.append(int(target.table[ids[-1]].argmax()))
    return torch.tensor(ids)


def certain(gen, vocab, new, gamma, like=0.0):
    """A call in which the target is sure; the draft is like it, or knows nothing."""
    target, prompt = sure(gen, vocab), torch.randint(vocab, (3,), generator=gen)
    draft = like * target + torch.randn(vocab, vocab, generator=gen)
    return given(Model(target), Model(draft), prompt, new, gamma, gen)


speculate = Contract(
    "speculate(target, draft, prompt, max_new_tokens, gamma, generator)",
    reference=greedy,
    inputs=lambda gen: {
        "a target that is sure, and a draft that is not": certain(gen, 9, 7, 3),
        "a draft that is right mostly": certain(gen, 8, 9, 2, like=0.005),
        "a draft that is always right": certain(gen, 7, 10, 4, like=1.0),
        "one proposal a round": certain(gen, 9, 5, 1, like=0.01),
    },
    dims="time",
    fine=[
        values(
            inputs=lambda gen: [certain(gen, 5, 0, 2)],
            name="no_new_tokens",
            title="With max_new_tokens=0 the prompt comes back.",
        ),
        untouched(name="prompt_is_left_alone", title="The prompt stays as it is."),
    ],
)


def pair(gen, vocab=4):
    """A target and a draft that differ much."""
    target = torch.randn(vocab, vocab, generator=gen)
    return target, 0.3 * torch.randn(vocab, vocab, generator=gen) - 1.2 * target


@pytest.mark.of("speculate")
def test_distribution(answer, gen):
    """New tokens come as often as the target alone would draw them."""
    table, other = pair(gen)
    chances, call = table.double().softmax(-1), "speculate(target, draft, prompt, 3, 2, generator)"
    prompt = torch.tensor([2, 1])
    drawn = [answer.speculate(Model(table), Model(other), prompt, 3, 2, gen) for _ in range(RUNS)]
    drawn = torch.stack(drawn)
    expect_equal(drawn.shape, torch.Size([RUNS, 5]), f"the shape of {RUNS} results of {call}")
    for place in (2, 3, 4):
        pairs = torch.bincount(drawn[:, place - 1] * 4 + drawn[:, place], minlength=16)[:16].view(4, 4)
        runs = pairs.sum(1, keepdim=True)  # after each token
        off = (pairs - runs * chances).abs() / (runs * chances * (1 - chances)).sqrt().clamp(min=1)
        worst = int(off.argmax()) // 4
        yours, wanted = (pairs / runs)[worst], chances[worst]
        expect_that(
            bool(off.max() < 6),
            f"new token {place - 2} of {call} comes with other chances than the target's",
            yours=f"{[round(c, 3) for c in yours.tolist()]} in {int(runs[worst])} runs, after token {worst}",
            wanted=f"about {[round(c, 3) for c in wanted.tolist()]}",
        )


@pytest.mark.of("speculate")
def test_calls(answer, gen):
    """The target is called once for gamma proposals, of which a good draft saves gamma calls."""
    table = torch.randn(6, 6, generator=gen)
    for gamma, new in ((3, 12), (4, 15), (1, 6)):
        target, draft = Model(table), Model(table)
        answer.speculate(target, draft, torch.tensor([0, 3]), new, gamma, gen)
        yours, wanted = len(target.calls), new // (gamma + 1)
        what = f"{new} new tokens with gamma={gamma}, of a draft equal to the target, take other target calls"
        causes = {
            -(-new // gamma): "where all proposals stay, the target gives one token more",
            new: "one call of the target judges all proposals",
        }
        facts = {"likely": causes[yours]} if yours in causes else {}
        expect_that(yours == wanted, what, yours=yours, wanted=wanted, **facts)
        what = f"{wanted} rounds with gamma={gamma} call draft too often"
        expect_that(len(draft.calls) <= gamma * wanted, what, yours=len(draft.calls), wanted=gamma * wanted)


@pytest.mark.of("speculate")
def test_generator_decides(answer, gen):
    """The same state of the generator gives the same tokens, another one others."""
    table, other = (0.1 * torch.randn(30, 30, generator=gen) for _ in range(2))
    state = gen.get_state()
    draw = lambda: answer.speculate(Model(table), Model(other), torch.tensor([4]), 12, 2, gen)  # noqa: E731
    first, second = draw(), draw()
    gen.set_state(state)
    torch.rand(3)
    likely = "the numbers do not come from this generator: hand it on, generator=generator"
    expect_that(
        torch.equal(draw(), first), "back in the same state, speculate draws other tokens", likely=likely
    )
    expect_that(not torch.equal(first, second), "two calls in a row draw the same tokens")


@pytest.mark.fine
def test_global_stream_is_left_alone(answer, gen):
    """PyTorch's global random stream is neither drawn from nor seeded."""
    table = torch.randn(6, 6, generator=gen)
    with global_rng_untouched("speculate(target, draft, prompt, 9, 2, generator)"):
        answer.speculate(Model(table), Model(-table), torch.tensor([4]), 9, 2, gen)
