"""What grades top_k_routing: who gets what, weights, gradients, the loss; capacity, calls, dtypes."""

from functools import partial

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, dtypes, empties, given, gradients, strides, untouched, values


def expert(weight, rows):
    return weight(rows) if callable(weight) else (rows @ weight).tanh()


def use(answer, x, logits, experts, *more, **options):
    """Experts are tensors here, so that they have gradients; here they become functions."""
    return answer.mixture_of_experts(x, logits, [partial(expert, w) for w in experts], *more, **options)


def mixed(
    x,
    logits,
    experts,
    k=2,
    capacity=None,
    *,
    weigh=lambda logits, chosen: logits.gather(-1, chosen).softmax(-1),
    order=lambda choice, token: (choice, token),
    before=False,
    last=False,
    again=False,
):
    """Token by token; what comes after the arguments is as people get it wrong."""
    chosen = logits.sort(-1, descending=True).indices[:, :k]
    weights, kept = weigh(logits, chosen), torch.zeros(len(x), k, dtype=torch.bool)
    room = [len(x) * k if capacity is None else capacity] * len(experts)
    for choice, token in sorted(((c, t) for t in range(len(x)) for c in range(k)), key=lambda p: order(*p)):
        e = int(chosen[token, choice])
        kept[token, choice] = room[e] > 0
        room[e] -= 1
    if again:
        weights = weights * kept / (weights * kept).sum(-1, keepdim=True).clamp(min=1e-9)
    rows = [0 * x[t] for t in range(len(x))]
    for e, weight in enumerate(experts):
        for token, choice in ((chosen == e) & kept).nonzero().tolist():
            w, row = weights[token, choice], x[token]
            term = expert(weight, w * row) if before else w * expert(weight, row)
            rows[token] = term if last else rows[token] + term
    return torch.stack(rows) if rows else x + 0


def over_all(logits, chosen):
    return logits.softmax(-1).gather(-1, chosen)


def drawn(gen, tokens, dim, experts, *, favoured=0.0):
    """Experts in front are `favoured` by the router."""
    logits = torch.randn(tokens, experts, generator=gen) - favoured * torch.arange(experts)
    return (
        torch.randn(tokens, dim, generator=gen),
        logits,
        torch.randn(experts, dim, dim, generator=gen),
    )


def full(gen):
    return {
        "with a capacity of 3": given(*drawn(gen, 9, 4, 3, favoured=0.7), k=2, capacity=3),
        "with a capacity of 1": given(*drawn(gen, 7, 4, 4, favoured=0.7), k=3, capacity=1),
        "with room for all": given(*drawn(gen, 6, 3, 4), k=2, capacity=6),
    }


mixture = Contract(
    "mixture_of_experts(x, logits, experts, k, capacity)",
    reference=mixed,
    use=use,
    inputs=lambda gen: {
        "seven tokens": given(*drawn(gen, 7, 3, 4), 2),
        "three experts for each token": given(*drawn(gen, 6, 4, 5), k=3),
        "one expert for each token": given(*drawn(gen, 5, 4, 3), k=1),
        "all experts for each token": given(*drawn(gen, 4, 4, 4), k=4),
        "fewer tokens than experts": given(*drawn(gen, 2, 3, 8), 2),
    },
    gradient="x logits experts",
    ulps=100,
    dims="token feature",
    suspects={
        "the softmax runs over all experts: it is to run over the k alone": partial(mixed, weigh=over_all),
        "two softmaxes, one over all experts and one over the k: the logits of the k are asked for": partial(
            mixed, weigh=lambda *given: over_all(*given).softmax(-1)
        ),
        "the softmax runs over the tokens, not over the k": partial(
            mixed, weigh=lambda logits, chosen: logits.gather(-1, chosen).softmax(0)
        ),
        "each of the k counts the same": partial(
            mixed, weigh=lambda logits, chosen: 0 * over_all(logits, chosen) + 1 / chosen.shape[-1]
        ),
        "weights are left out": partial(mixed, weigh=lambda *given: 0 * over_all(*given) + 1),
        "the weight of a token's best expert is used for all k": partial(
            mixed,
            weigh=lambda logits, chosen: logits.gather(-1, chosen).softmax(-1)[:, :1].expand(chosen.shape),
        ),
        "weights are put on what an expert gets, not on what it returns": partial(mixed, before=True),
        "the last expert overwrites what others gave for a token: results are added up": partial(
            mixed, last=True
        ),
        "only the best expert counts": lambda x, logits, experts, *more, **options: mixed(
            x, logits, experts, k=1
        ),
    },
    job=[gradients("x logits experts", scale=1.0)],  # with k=1 that of the logits is 0
    fine=[
        values(
            inputs=full,
            name="capacity",
            title="A full expert takes no more: first choices come first, then the order of tokens counts.",
            suspects={
                "an expert takes its tokens in their order, whichever choice it is for them": partial(
                    mixed, order=lambda choice, token: (token, choice)
                ),
                "capacity is left out": lambda *given, k=2, capacity=None: mixed(*given, k=k),
                "the weights that are left are scaled up: they stay as they are": partial(mixed, again=True),
            },
        ),
        dtypes(
            *(torch.float16, torch.bfloat16),
            ulps=8,
            name="half_precision",
            title="Half precision comes out as it went in.",
        ),
        dtypes(
            torch.bfloat16,
            of="x experts",
            ulps=8,
            name="dtype_of_x",
            title="The result has the dtype of x, where the logits are in float32.",
        ),
        dtypes(torch.float64, name="float64", title="float64 is computed in float64."),
        strides(inputs=lambda gen: {"seven tokens": given(*drawn(gen, 7, 3, 4), 2)}),
        empties(),
        untouched(),
    ],
)


def spread(logits, factor=lambda p: p.shape[-1], share=None, over=lambda p: p.mean(0)):
    p = logits.softmax(-1)
    first = (p == p.amax(-1, keepdim=True)).to(p.dtype)
    return factor(p) * ((first if share is None else share(p)).mean(0) * over(p)).sum()


balance = Contract(
    "balance_loss(logits)",
    reference=spread,
    inputs=lambda gen: {
        "six tokens": torch.randn(6, 4, generator=gen),
        "as many tokens as experts": torch.randn(5, 5, generator=gen)[[0, 0, 1, 2, 3]],  # not one for each
        "a favoured expert": torch.randn(7, 3, generator=gen) + torch.tensor([3.0, 0.0, 0.0]),
    },
    gradient="logits",
    suspects={
        "the factor N is left out, or the mean over experts is taken, not their sum": partial(
            spread, factor=lambda p: 1
        ),
        "the factor is the number of tokens, not of experts": partial(spread, factor=len),
        "f is P as well: it is a share of tokens": partial(spread, share=lambda p: p),
        "f counts a token's two best experts": partial(
            spread, share=lambda p: (p >= p.topk(2).values[:, 1:]).to(p.dtype)
        ),
        "P is summed over the tokens: it is their mean": partial(spread, over=lambda p: p.sum(0)),
    },
)


def received(answer, gen, tokens=9, experts=5, k=2):
    """For each expert the tokens in each of its calls, and those that it should get."""
    x, logits, _ = drawn(gen, tokens, 2, experts)
    logits[:, -1] -= 100.0  # nobody wants the last
    x[:, 0] = torch.arange(float(tokens))
    calls = [[] for _ in range(experts)]

    def record(number, rows):
        calls[number].append([int(i) for i in rows.detach().reshape(-1, 2)[:, 0].round()])
        return 2 * rows

    answer.mixture_of_experts(x, logits, [partial(record, e) for e in range(experts)], k)
    chosen = logits.topk(k).indices
    return calls, [(chosen == e).any(-1).nonzero().flatten().tolist() for e in range(experts)]


def test_own_tokens(answer, gen):
    """An expert gets each of its own tokens once, and no others."""
    calls, wanted = received(answer, gen)
    for number, (batches, tokens) in enumerate(zip(calls, wanted, strict=True)):
        mine = sorted(t for batch in batches for t in batch)
        suspects = {"that is every token: an expert works on its own tokens alone": lambda: list(range(9))}
        expect_equal(mine, tokens, f"the tokens that expert {number} of 5 gets", suspects=suspects)


@pytest.mark.fine
def test_calls(answer, gen):
    """An expert is called once, with all of its tokens, and not at all without any."""
    calls, wanted = received(answer, gen)
    for number, (batches, tokens) in enumerate(zip(calls, wanted, strict=True)):
        facts = {"tokens": len(tokens), "yours": f"{len(batches)} calls", "wanted": "1" if tokens else "none"}
        told = f"expert {number} of 5 is called too often"
        expect_that(len(batches) <= bool(tokens), told, **facts)
