"""What grades generate: the filters, prompts of unequal length, stops, cost, draws; edges, errors."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that, global_rng_untouched
from grader.checks.contract import Contract, given, untouched, values


class Attends:
    """A model of one attention, in which every token and every position counts; it notes how it is called."""

    def __init__(self, gen, vocab=11, dim=6):
        draw = lambda *size: torch.randn(size, generator=gen, dtype=torch.float64)  # noqa: E731
        self.embed, self.place, self.query, self.head = (
            draw(vocab, dim),
            draw(40, dim),
            draw(dim, dim),
            draw(dim, vocab),
        )
        self.seen, self.calls, self.gradients = [], 0, False

    def __call__(self, ids, positions, cache=None):
        if ids.dim() != 2 or positions.shape != ids.shape:
            raise ValueError(
                f"ids are {tuple(ids.shape)}, positions {tuple(positions.shape)}: (batch, time) each"
            )
        self.calls += 1
        self.gradients |= torch.is_grad_enabled()
        self.seen.append(positions)
        x = self.embed[ids] + self.place[positions.clamp(min=0)]
        keys, places = x, positions
        if cache is not None:
            keys, places = torch.cat([cache[0], x], 1), torch.cat([cache[1], positions], 1)
        later = (places[:, None] > positions[..., None]) | (places[:, None] < 0)
        scores = (x @ self.query @ keys.mT).masked_fill(later, -1e9)
        return 3 * scores.softmax(-1) @ keys @ self.head, (keys, places)

    def counted(self):
        """How many tokens went through it, padding left out."""
        return sum(int((positions >= 0).sum()) for positions in self.seen)


def greedy(model, prompts, n, stop=(), first=0, step=1, shift=False, after=True, ends=all, again=False):
    """Each prompt alone and without a cache; or with mistakes."""
    new = [[] for _ in prompts]
    time = max(map(len, prompts))
    for prompt, said in zip(prompts, new, strict=True):
        text = list(prompt)
        places = [i + first + (time - len(prompt)) * shift for i in range(len(text))]
        for _ in range(n):
            logits, _cache = model(torch.tensor([text]), torch.tensor([places]))
            said.append(int(logits[0, -1].argmax()))
            text, places = [*text, said[-1]], [*places, 0 if again else places[-1] + step]
            if said[-1] in stop and after:
                break
    if ends is any:
        shortest = min(map(len, new))
        new = [said[:shortest] for said in new]
    return new


def lists(yours):
    """Rows of numbers, however they are kept."""
    expect_that(hasattr(yours, "__iter__"), "generate(…) is to return lists of tokens", yours=yours)
    return [torch.as_tensor(row).tolist() for row in yours]


def prompts_of(gen, *lengths):
    return [torch.randint(11, (n,), generator=gen).tolist() for n in lengths]


def kept(logits, temperature=1.0, top_k=None, top_p=None, min_p=None, short=False, early=False, flat=False):
    """Row by row, token by token; or with mistakes."""
    rows = []
    for row in logits.double():
        order = sorted(range(len(row)), key=lambda i: -float(row[i]))
        if temperature == 0:
            rows.append([float(i == order[0]) for i in range(len(row))])
            continue
        weights = (row / temperature - row.max() / temperature).exp().tolist()
        stay = order[:top_k]
        total = sum(weights[i] for i in (order if early else stay))
        nucleus, reached = [], 0.0
        for i in stay:
            chance = weights[i] / total
            if top_p is not None and nucleus and (reached >= top_p or (short and reached + chance > top_p)):
                break
            reached += chance
            if min_p is None or chance >= min_p * (1.0 if flat else weights[order[0]] / total):
                nucleus.append(i)
        rest = sum(weights[i] for i in nucleus) or 1.0
        rows.append([weights[i] / rest if i in nucleus else 0.0 for i in range(len(row))])
    return torch.tensor(rows, dtype=torch.float64)


def mistaken(**how):
    return lambda *given, **options: kept(*given, **{**options, **how})


def with_sum(logits, **options):
    """The probabilities before what is dropped was taken off."""
    divided = logits.double() / (options.get("temperature", 1.0) or 1.0)
    return divided.softmax(-1) * (kept(logits, **options) > 0)


def many(gen):
    def drawn(rows=3, vocab=9):
        return 2 * torch.randn(rows, vocab, generator=gen)

    return {
        "plain": given(drawn()),
        "a temperature": given(drawn(), temperature=0.6),
        "a high temperature": given(drawn(), temperature=2.5),
        "temperature 0": given(drawn(), temperature=0),
        "top_k": given(drawn(), top_k=4),
        "top_p": given(drawn(), top_p=0.75),
        "min_p": given(drawn(), min_p=0.3),
        "top_k and top_p": given(drawn(4), top_k=4, top_p=0.85),
        "temperature and top_p": given(drawn(4), temperature=2.0, top_p=0.7),
        "temperature and min_p": given(drawn(4), temperature=1.8, min_p=0.3),
        "all of them": given(drawn(6, 30), temperature=1.7, top_k=12, top_p=0.9, min_p=0.15),
    }


probabilities = Contract(
    "next_probabilities(logits)",
    reference=kept,
    use=lambda answer, *given, **options: answer.next_probabilities(*given, **options),
    inputs=many,
    ulps=40,
    dims="batch vocab",
    suspects={
        "logits are multiplied by the temperature": lambda logits, temperature=1.0, **options: kept(
            logits, 1 / (temperature or 1e9), **options
        ),
        "the temperature is left out": lambda logits, temperature=1.0, **options: kept(logits, **options),
        "top_p leaves out the token that reaches it": mistaken(short=True),
        "top_p counts the probabilities of all tokens, also of those that top_k dropped": mistaken(
            early=True
        ),
        "min_p is compared with the probability itself, not with its share of the largest": mistaken(
            flat=True
        ),
        "what is kept does not add up to 1": with_sum,
        "these are sorted: each token keeps its place": lambda *given, **options: kept(
            *given, **options
        ).sort(-1, descending=True)[0],
        "top_k is left out": lambda logits, top_k=None, **options: kept(logits, **options),
        "top_p is left out": lambda logits, top_p=None, **options: kept(logits, **options),
        "min_p is left out": lambda logits, min_p=None, **options: kept(logits, **options),
        "top_p and min_p look at probabilities without the temperature": lambda *given, **options: unheated(
            *given, **options
        ),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "top_k beyond the vocabulary": given(torch.randn(2, 5, generator=gen), top_k=9),
                "top_p=0": given(torch.randn(2, 5, generator=gen), top_p=0.0),
                "top_p=1": given(torch.randn(2, 5, generator=gen), top_p=1.0),
                "tokens that are ruled out": given(torch.tensor([[1.0, -math.inf, 0.5, 0.0]]), top_k=3),
            },
            name="edges",
            title="top_k beyond the vocabulary keeps all, top_p=0 keeps one.",
        ),
        untouched(inputs=lambda gen: [given(torch.randn(2, 5, generator=gen), 0.5, 4, 0.8, 0.1)]),
    ],
)


def unheated(logits, temperature=1.0, **options):
    """The temperature comes last."""
    chosen = kept(logits, **options) > 0
    return (logits.double() / (temperature or 1e-9)).masked_fill(~chosen, -math.inf).softmax(-1)


def expect_texts(answer, gen, lengths, n, stop=(), call=""):
    """Fail unless greedy texts are those of each prompt alone."""
    model, prompts = Attends(gen), prompts_of(gen, *lengths)
    wanted = greedy(model, prompts, n, stop)
    mistakes = {
        "what comes after a token of stop does not belong to the text": {"after": False},
        "it ends where the first text has stopped: it goes on until all have": {"ends": any},
        "padding is counted: positions of each prompt begin at 0": {"shift": True},
        "positions begin at 1: the first is 0": {"first": 1},
        "new tokens all have the same position": {"step": 0},
        "new tokens begin at position 0 again": {"again": True},
    }
    suspects = {
        told: lambda how=how: greedy(model, prompts, n, stop, **how) for told, how in mistakes.items()
    } | {
        "the token of stop belongs to the text": lambda: [
            [i for i in row if i not in stop] for row in wanted
        ],
        "prompts are not to be returned": lambda: [p + new for p, new in zip(prompts, wanted, strict=True)],
        "padding is seen: its positions are to be negative": lambda: greedy(model, padded, n, stop),
        "each text has a token too many": lambda: greedy(model, prompts, n + 1, stop),
    }
    padded = [[0] * (max(lengths) - len(prompt)) + prompt for prompt in prompts]
    yours = lists(answer.generate(model, prompts, n, temperature=0, stop=stop))
    expect_equal(yours, wanted, call, suspects=suspects)


def test_prompts(answer, gen):
    """Prompts of any lengths go on as each does alone."""
    for lengths in [(4,), (3, 3), (5, 2, 1, 4), (1, 6)]:
        expect_texts(
            answer, gen, lengths, 8, (), f"generate(model, prompts of {lengths} tokens, 8, temperature=0)"
        )


def test_stop(answer, gen):
    """Each text ends with its first token of stop; the others go on."""
    for stop in [{3}, {2, 5}, (7, 1, 9)]:
        call = f"generate(model, prompts of (4, 2, 5, 1) tokens, 12, temperature=0, stop={stop})"
        expect_texts(answer, gen, (4, 2, 5, 1), 12, stop, call)


def test_each_token_once(answer, gen):
    """No token goes through the model twice, prompts go together, and it ends when all have stopped."""
    model, prompts = Attends(gen), prompts_of(gen, 4, 2, 7)
    answer.generate(model, prompts, 6, temperature=0)
    told = "tokens go through the model again"
    expect_that(
        model.counted() <= 13 + 3 * 6,
        told,
        yours=f"{model.counted()} tokens for prompts of 4, 2 and 7, and 6 new ones each",
        wanted="13 and 5 * 3, or 3 more",
    )
    told, allowed = (
        "the model is called too often: all prompts go through it together",
        "6 calls for 6 tokens",
    )
    expect_that(model.calls <= 7, told, yours=f"{model.calls} calls", wanted=allowed)
    model = Attends(gen)
    stop = {new[-1] for new in greedy(model, prompts, 3)}
    longest = max(map(len, greedy(model, prompts, 3, stop)))
    answer.generate(fresh(model), prompts, 20, temperature=0, stop=stop)
    told, allowed = (
        "the model is called when all texts have stopped",
        f"at most {longest} or {longest + 1} calls",
    )
    expect_that(model.calls <= longest + 1, told, yours=f"{model.calls} calls", wanted=allowed)


def fresh(model):
    """The same model, as if it had never been called."""
    model.seen, model.calls, model.gradients = [], 0, False
    return model


ROW = torch.tensor([0.3, 2.0, -1.0, 1.5, 2.4, 0.9])


def says(ids, positions, cache=None):
    """A model that thinks the same everywhere."""
    return ROW.expand(*ids.shape, 6), cache


@pytest.mark.parametrize("how", [{}, {"temperature": 0.5, "top_k": 3}, {"top_p": 0.8, "min_p": 0.3}], ids=str)
def test_draws(answer, gen, how):
    """Tokens are drawn as often as next_probabilities says, each prompt for itself."""
    prompts, chances = [[0]] * 2000, kept(ROW[None], **how)[0]
    yours = torch.tensor(lists(answer.generate(says, prompts, 2, generator=gen, **how)))
    told = "".join(f", {name}={value}" for name, value in how.items())
    for place in range(2):
        counts = yours[:, place].bincount(minlength=6)
        room = 6 * (2000 * chances * (1 - chances)).sqrt() + (chances > 0) * 2
        off = (counts - 2000 * chances).abs() - room
        worst = int(off.argmax())
        expect_that(
            float(off[worst]) <= 0,
            f"wrong frequencies from generate(model, prompts, 2{told})",
            yours=f"token {worst} came {int(counts[worst])} times in 2000 texts",
            wanted=f"about {2000 * float(chances[worst]):.0f} times",
            likely="the likeliest is always taken" if int(counts.max()) == 2000 else "",
        )
    both = float((yours[:, 0] == yours[:, 1]).double().mean())
    told = "both tokens of a text are often the same: each is drawn anew"
    expect_that(both < float(chances.square().sum()) + 0.1, told, yours=f"{both:.0%} of all texts")


@pytest.mark.fine
def test_generator(answer, gen):
    """The same state of the generator gives the same texts, and the global stream is left alone."""
    prompts, state = [[0]] * 40, gen.get_state()
    with global_rng_untouched("generate(…, generator=generator)"):
        first = lists(answer.generate(says, prompts, 4, generator=gen))
    gen.set_state(state)
    again = lists(answer.generate(says, prompts, 4, generator=gen))
    expect_that(
        first == again, "the same state of the generator gives other texts", yours=again[0], wanted=first[0]
    )


@pytest.mark.fine
def test_nothing_to_say(answer, gen):
    """No new tokens are asked for, or there are no prompts."""
    yours = lists(answer.generate(Attends(gen), [[1, 2], [3]], 0))
    expect_equal(yours, [[], []], "generate(model, two prompts, 0)")
    expect_equal(lists(answer.generate(Attends(gen), [], 3)), [], "generate(model, [], 3)")


@pytest.mark.fine
def test_no_gradients(answer, gen):
    """The model is called without gradients, and the prompts stay as they are."""
    model, prompts = Attends(gen), [[1, 2], [3]]
    answer.generate(model, prompts, 2, temperature=0)
    expect_that(not model.gradients, "the model is called with gradients")
    expect_equal(prompts, [[1, 2], [3]], "the prompts after generate")


@pytest.mark.fine
def test_empty_prompt(answer, gen):
    """An empty prompt raises ValueError."""
    for prompts in ([[1], []], [[]]):
        expect_raises(
            ValueError,
            lambda p=prompts: answer.generate(Attends(gen), p, 2),
            f"generate(model, {prompts}, 2)",
        )


def oracle(answer, gen):
    calls = many(gen)
    model, one, three = Attends(gen), prompts_of(gen, 4, 4), prompts_of(gen, 5, 2, 3)
    cases = {
        name: lambda call=call: answer.next_probabilities(*call.args, **call.kwargs)
        for name, call in calls.items()
    }

    def texts(prompts, stop=()):
        return lambda: lists(answer.generate(model, prompts, 9, temperature=0, stop=stop))

    return cases | {
        "texts of two prompts": texts(one),
        "texts of three prompts of unequal length": texts(three),
        "a text with a stop": texts(one[:1], {1, 2, 3}),
        "texts with a stop": texts(three, {4, 5}),
    }
