"""What grades beam_search: sequences and scores, the end token, the penalty; calls of the model."""

import math

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, untouched, values
from grader.checks.devices import is_simulated


class Reader(nn.Module):
    """A causal model: what comes next depends on all tokens so far, and on how many they are."""

    def __init__(self, gen, vocab, never=(), sharp=1.5):
        super().__init__()
        self.register_buffer("tokens", torch.randn(vocab, 12, generator=gen))
        self.register_buffer("out", sharp * torch.randn(12, vocab, generator=gen))
        self.never = never
        self.batches = []

    def forward(self, ids):
        self.batches.append(len(ids))
        logits = self.tokens[ids].cumsum(1).sin() @ self.out
        for token in self.never:
            logits[..., token] = -math.inf
        return logits


def penalty(n, prompt, alpha):
    return ((5 + n) / 6) ** alpha


def searched(
    model,
    prompt,
    width,
    max_new_tokens,
    end,
    alpha=0.6,
    *,
    value=lambda logits: logits.log_softmax(-1),
    divisor=penalty,
    own=None,
    stops=math.inf,
    ends=True,
    late=True,
    best=True,
    apart=None,
    copies=False,
):
    """Beam search over lists, one sequence at a time; what comes after alpha is as people get it wrong."""
    live, done, n, start = [(0.0, prompt.tolist())] * (width if copies else 1), [], 0, len(prompt)
    for n in range(1, max_new_tokens + 1):
        found = []
        for total, ids in live:
            worth = value(model(torch.tensor([ids]))[0, -1].double()).tolist()
            more = [(total + w, [*ids, token]) for token, w in enumerate(worth) if w > -math.inf]
            found += sorted(more, reverse=True)[: own if n > 1 else None]
        found.sort(reverse=True)
        live = [one for one in found if not apart or one[1][-1] != end][:width]
        ended = [one for one in (found[:apart] if apart else live) if ends and one[1][-1] == end]
        done += [(total / divisor(n, start, alpha), ids) for total, ids in ended]
        live = [one for one in live if one not in ended]
        if len(done) >= stops:
            live = []
        if not live:
            break
    if late or not done:
        done += [(total / divisor(n, start, alpha), ids) for total, ids in live]
    done = sorted(done, reverse=best)[:width]
    rows = [torch.tensor(ids) for _, ids in done]
    rows = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
    return torch.tensor([score for score, _ in done]), rows


def wrong(**how):
    return lambda *given, **options: searched(*given, **options, **how)


def full(model, prompt, width, *given, **options):
    return searched(model, prompt, width, *given, stops=width, late=False, **options)


def apart(model, prompt, width, *given, **options):
    return searched(model, prompt, width, *given, apart=width, **options)


def listed(answer, *args, **options):
    """The scores, and the sequences as rows, padded with -1."""
    found = list(answer.beam_search(*args, **options))
    ids = [torch.as_tensor(ids).flatten() for ids, _ in found] or [torch.zeros(0, dtype=torch.int64)]
    rows = nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=-1)
    return torch.tensor([float(score) for _, score in found]), rows


def prompt(gen, vocab, length):
    return torch.randint(1, vocab, (length,), generator=gen)


def jittered(logits):
    """Log-probabilities that are a little off: what changes the ranking is a tie, or nearly so."""
    return logits.log_softmax(-1) + 1e-5 * (1e4 * logits).sin()


def drawn(gen, vocab, length, width, *how, telling=(), places=False, **options):
    """A search without ties that tells `telling` apart, and with `places` who takes a place."""
    while True:
        call = (Reader(gen, vocab, sharp=0.3 if places else 1.5), prompt(gen, vocab, length), width, *how)
        wanted = searched(*call, **options)[1]

        def is_same(call=call, wanted=wanted, **mistake):
            return torch.equal(wanted, searched(*call, **options, **mistake)[1])

        alike = is_same(apart=width), is_same(apart=9**9)
        told = not alike[0] if places else all(alike)
        if told and is_same(value=jittered) and not any(is_same(**mistake) for mistake in telling):
            return given(*call, **options)


def searches(gen):
    early, late, flat = {"stops": 3}, {"late": False}, {"divisor": lambda n, start, alpha: 1.0}
    return {
        "three beams": drawn(gen, 7, 2, 3, 4, 0, telling=[early, {"own": 1}]),
        "two beams": drawn(gen, 6, 1, 2, 5, 2, 0.0, telling=[late]),
        "a large alpha": drawn(gen, 5, 3, 4, 5, 1, telling=[flat], alpha=2.0),
        "one beam": drawn(gen, 9, 2, 1, 6, 3),
        "more beams than tokens": drawn(gen, 3, 2, 7, 5, 0),
    }


SUSPECTS = {
    "raw logits are added up: take log_softmax first": wrong(value=lambda logits: logits),
    "probabilities are added up: their logarithms are to be": wrong(value=lambda logits: logits.softmax(-1)),
    "each sequence keeps one continuation: the best of all of them together stay": wrong(own=1),
    "scores are not divided by the length penalty": wrong(divisor=lambda n, start, alpha: 1.0),
    "the length penalty multiplies": wrong(divisor=lambda n, start, alpha: 1 / penalty(n, start, alpha)),
    "the length counts the prompt": wrong(divisor=lambda n, start, alpha: penalty(n + start, start, alpha)),
    "the length leaves out the last token": wrong(
        divisor=lambda n, start, alpha: penalty(n - 1, start, alpha)
    ),
    "the penalty is n ** alpha, that of Hugging Face": wrong(divisor=lambda n, start, alpha: n**alpha),
    "it stops at the first finished sequence: live ones may become better": wrong(stops=1),
    "it stops once `width` are finished: live ones may become better": full,
    "it begins with the prompt `width` times: all go on with the same sequence": wrong(copies=True),
    "sequences go on behind the end token": wrong(ends=False),
    "what is live after the last step is left out": wrong(late=False),
    "the worst comes first": wrong(best=False),
}

contract = Contract(
    "beam_search(model, prompt, width, max_new_tokens, end, alpha)",
    reference=searched,
    use=listed,
    inputs=searches,
    dims=("sequence", "sequence time"),
    ulps=100,
    suspects=SUSPECTS,
    fine=[
        values(
            inputs=lambda gen: [
                drawn(gen, 6, 2, width, 5, 0, alpha, places=True)
                for width in (2, 3, 4)
                for alpha in (0.3, 1.0)
            ],
            suspects={"finished sequences take no place: they are among the `width` that stay": apart},
            name="places",
            title="A sequence that ends takes one of the places of its step.",
        ),
        values(
            inputs=lambda gen: [
                drawn(gen, 3, 1, 90, 4, 0),  # all that there are
                *(
                    given(Reader(gen, 6, never=(0, 2, 3, 5)), prompt(gen, 6, 1), width, 3, 0)
                    for width in (3, 20)
                ),
            ],
            name="never",
            title="A token with logit -inf is never used; where fewer sequences are there, fewer come back.",
        ),
        values(
            inputs=lambda gen: [given(Reader(gen, 6), prompt(gen, 6, length), 3, 0, 0) for length in (1, 4)],
            name="no_new_tokens",
            title="With max_new_tokens=0 the prompt comes back, with score 0.",
        ),
        untouched(),
    ],
)


@pytest.mark.fine
def test_calls(answer, gen):
    """The model is called once a step, with all live sequences, and no more when none is live."""
    for call, wanted in (
        ((Reader(gen, 8, never=(0,)), prompt(gen, 8, 2), 3, 4, 0), [1, 3, 3, 3]),
        ((Reader(gen, 5, never=(1, 2, 3, 4)), prompt(gen, 5, 2), 3, 4, 0), [1]),
    ):
        listed(answer, *call)
        yours = call[0].batches
        what = "the model is called with other numbers of sequences than are live"
        expect_that(yours == wanted, what, yours=yours, wanted=wanted)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Log-probabilities of logits in half precision are added up in float32."""
    while True:
        table = (0.1 * torch.randn(30, 30, generator=gen)).to(dtype)  # the same whatever else is in the batch
        table[:, 0] = -math.inf
        call = (table.__getitem__, prompt(gen, 30, 3), 2, 12, 0)
        scores, wanted = searched(*call)
        noisy = [table + 1e-5 * torch.randn(30, 30, generator=gen).double() for _ in range(9)]
        if all(torch.equal(searched(one.__getitem__, *call[1:])[1], wanted) for one in noisy):  # no ties
            break
    wanted, yours = float(scores[0]), float(listed(answer, *call)[0][0])
    what = f"the best score from logits in {dtype} is rounded"
    expect_that(abs(yours - wanted) < 1e-4, what, yours=yours, wanted=wanted)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """A model and a prompt on another device give ids there."""
    model, start = Reader(gen, 6), prompt(gen, 6, 2)
    wanted = searched(model, start, 3, 4, 0)[1]
    found = list(answer.beam_search(model.to(device), start.to(device), 3, 4, 0))
    expect_that(all(is_simulated(ids) for ids, _ in found), "the ids leave the device")
    rows = nn.utils.rnn.pad_sequence([ids.cpu() for ids, _ in found], batch_first=True, padding_value=-1)
    expect_equal(rows, wanted, "the ids of beam_search(model, prompt, 3, 4, 0) on a device")
