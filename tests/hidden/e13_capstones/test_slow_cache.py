"""What grades slow_cache: each part alone, then what is to stay, then cost."""

import inspect

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_that

YES, NO = True, False


class Letters(nn.Module):
    """A stand-in: behind token t comes t + 1, of nine; it notes what it is given."""

    def __init__(self):
        super().__init__()
        self.read = []

    def forward(self, ids, real=None, cache=None):
        self.read.append(ids)
        if cache is not None:
            cache.place(torch.ones_like(ids, dtype=torch.bool) if real is None else real)
        return 50.0 * F.one_hot((ids + 1) % 9, 9).float()


class Weighed(nn.Module):
    """A stand-in whose logits depend on all that a row has read, which it finds in the cache."""

    def logits(self, texts):
        """What comes behind texts (size, length)."""
        weights = torch.arange(1, texts.size(1) + 1)
        told = (texts * weights).sum(dim=1, keepdim=True)  # (size, 1)
        return 2 * torch.sin(told * 1.7 + torch.arange(6) * 2.3)

    def forward(self, ids, real=None, cache=None):
        new = ids[:, None, :, None].float()
        texts = cache.extend(0, new, new)[0][:, 0, :, 0]
        last = self.logits(texts)
        return last[:, None].expand(len(ids), ids.size(1), 6)


def decoder(answer, gen, window=64):
    """A small one with weights of its own."""
    model = answer.model.Decoder(11, 8, 2, 2, window)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=gen) * 0.5)
    return model


def test_moved_text(answer, gen):
    """The same text says something else where it begins further on."""
    model, ids = decoder(answer, gen), torch.randint(11, (2, 6), generator=gen)

    class Further(answer.cache.Cache):
        def place(self, real):
            self.known = super().place(real) + 9  # whatever the cache takes for its length
            return self.known

    here, there = model(ids, cache=answer.cache.Cache(2)), model(ids, cache=Further(2))
    far = float((here - there).abs().max())
    told = f"the same 6 tokens at positions 9 to 14 and 0 to 5, further on: logits differ by up to {far:.2g}"
    expect_that(far < 1e-3, told, yours=there[0, -1], wanted=here[0, -1])


def test_token_behind_others(answer):
    """A token behind others that were read before does not see all of them, or sees later ones."""
    new, known = torch.tensor([[3, 4]]), torch.tensor([[0, 1, 2, 3, 4]])
    wanted = torch.tensor([[[YES, YES, YES, YES, NO], [YES] * 5]])
    yours = answer.model.visible(new, known, 10)
    call = "what tokens 3 and 4 see behind 0, 1 and 2: visible([[3, 4]], [[0, 1, 2, 3, 4]], 10)"
    expect_equal(yours, wanted, call)


def test_places_held(answer, gen):
    """The longer the text, the more is held, although nothing beyond the window is seen."""
    model, cache = decoder(answer, gen, window=5), answer.cache.Cache(1)
    for token in range(10):
        model(torch.tensor([[token]]), cache=cache)
    held = max(keys.size(2) for keys in cache.keys.values())
    expect_that(held <= 5, f"{held} places are held of a text of 10 tokens, with a window of 5")


def test_positions_go_on(answer):
    """A token that comes later gets a position that an earlier one has."""
    cache = answer.cache.Cache(1)
    cache.place(torch.ones(1, 3, dtype=torch.bool))
    yours = cache.place(torch.ones(1, 2, dtype=torch.bool))
    expect_equal(
        yours, torch.tensor([[3, 4]]), "the positions of two tokens behind three that were read before"
    )


def test_positions_of_short_rows(answer):
    """A short prompt has other positions in a batch with a long one than alone."""
    real = torch.tensor([[NO, NO, YES, YES], [YES] * 4])
    yours = answer.cache.Cache(2).place(real)
    call = "the positions in a batch of a prompt of 2 tokens, padded on the left, and one of 4"
    expect_equal(yours, torch.tensor([[-1, -1, 0, 1], [0, 1, 2, 3]]), call)


def test_digits_kept(answer, gen):
    """Keys and values that were read some calls ago have fewer digits than before."""
    cache = answer.cache.Cache(2)
    first = [torch.randn(2, 3, 4, 5, generator=gen) for _ in range(2)]
    cache.extend(0, *first)
    both = cache.extend(0, *(torch.randn(2, 3, 1, 5, generator=gen) for _ in range(2)))
    for what, was, now in zip(("keys", "values"), first, both, strict=True):
        expect_equal(now[:, :, :4], was, f"the first four {what}, all digits of them, a call later")


def test_copy_goes_its_way(answer):
    """What a copy reads stands in the original's past as well."""
    cache, ones = answer.cache.Cache(1), torch.ones(1, 1, 2, 1)
    cache.extend(0, ones, ones)
    other = cache.clone()
    other.extend(0, 2 * ones, 2 * ones)
    yours = [tensor.flatten().tolist() for tensor in cache.extend(0, 3 * ones, 3 * ones)]
    call = "the keys and values of the original, which has read 1, 1, 3, 3 while its copy has read 2, 2"
    expect_equal(yours, [[1.0, 1.0, 3.0, 3.0]] * 2, call)


def test_rows_in_another_order(answer):
    """Rows that were put in another order carry a part of another row's past."""
    cache = answer.cache.Cache(3)
    past = torch.tensor([10.0, 20.0, 30.0]).reshape(3, 1, 1, 1)
    cache.place(torch.tensor([[YES], [NO], [YES]]))
    cache.extend(0, past, past + 1)
    cache.select(torch.tensor([2, 0, 1]))
    new = torch.zeros(3, 1, 1, 1)
    keys, values = (tensor[:, 0, 0, 0].tolist() for tensor in cache.extend(0, new, new))
    yours = keys, values, cache.known[:, 0].tolist(), cache.lengths.tolist()
    wanted = [30.0, 10.0, 20.0], [31.0, 11.0, 21.0], [0, 0, -1], [1, 1, 0]
    call = "the keys, values, positions and lengths after rows 2, 0, 1 were selected, another order,"
    expect_equal(yours, wanted, call)


def test_read_for_a_token(answer):
    """The longer the text, the more is read for each new token."""
    model = Letters()
    answer.generate.generate(model, [[1, 2, 3], [4]], 6)
    last = model.read[-1].size(1)
    expect_that(
        last == 1, f"{last} tokens of each row are read for one new token, the 6th behind a prompt of 3"
    )


def test_others_go_on(answer):
    """A row that has stopped ends the other rows as well."""
    yours = answer.generate.generate(Letters(), [[1], [4]], 7, stop=6)
    call = "generate with stop=6 of two rows, of which one stops first and the other rows go on"
    expect_equal(yours, [[2, 3, 4, 5, 6], [5, 6]], call)


def test_temperature(answer, gen):
    """At a temperature of 0.5, likely tokens are drawn more often than that makes them."""

    class Fixed(nn.Module):
        def forward(self, ids, real=None, cache=None):
            return torch.tensor([0.6, 0.3, 0.1]).log().expand(*ids.shape, 3)

    rows = answer.generate.generate(Fixed(), [[0]] * 4000, 1, temperature=0.5, generator=gen)
    often = [sum(row == [token] for row in rows) / 4000 for token in range(3)]
    close = all(abs(a - b) < 0.04 for a, b in zip(often, [0.783, 0.196, 0.022], strict=True))
    told = "tokens of probability 0.6, 0.3 and 0.1 are drawn otherwise at a temperature of 0.5"
    expect_that(close, told, yours=often, wanted=[0.783, 0.196, 0.022])


def test_graphs(answer, gen):
    """Generating keeps a graph that nobody goes back through."""
    model, kept = decoder(answer, gen), []
    model.register_forward_hook(lambda _, args, out: kept.append(out.requires_grad))
    with torch.enable_grad():
        answer.generate.generate(model, [[1, 2, 3]], 4)
    expect_that(not any(kept), f"{sum(kept)} of {len(kept)} calls of the model in generate keep a graph")


def test_scores_of_beams(answer):
    """A beam has another score than its text."""
    model, prompt = Weighed(), [3, 1, 4]
    texts, scores = answer.generate.beams(model, prompt, 4, 5)
    wanted = torch.zeros(4)
    for i in range(5):
        before = torch.cat((torch.tensor([prompt] * 4), texts[:, :i]), dim=1)
        wanted += model.logits(before).log_softmax(dim=1).gather(1, texts[:, i : i + 1])[:, 0]
    close = torch.allclose(scores, wanted, atol=1e-3)
    expect_that(close, "the scores of beams are not those of their texts", yours=scores, wanted=wanted)


def test_second_reply(answer):
    """A second reply follows a text that lacks a part of what was said."""
    model = Letters()
    server = answer.serve.Server(model)
    first = server.ask("ann", [1, 2], 1)
    server.ask("ann", [7], 1)
    said = torch.cat(model.read, dim=1)[0].tolist()
    call = "what the model has read for a second reply: what was said, heard (3), and said"
    expect_equal((first, said[:4]), ([3], [1, 2, 3, 7]), call)


# What is right at first, and a careless mend breaks.


def test_names(answer):
    """Names, signatures and parameters are as they were."""
    state = answer.model.Decoder(7, 8, 2, 1, 4).state_dict()
    shapes = {
        name: tuple(tensor.shape)
        for name, tensor in state.items()
        if "norm" not in name and "mlp" not in name
    }
    wanted = {
        "embedding.weight": (7, 8),
        "blocks.0.attention.qkv.weight": (24, 8),
        "blocks.0.attention.out.weight": (8, 8),
        "head.weight": (7, 8),
    }
    expect_equal(shapes, wanted, "the names and shapes of parameters")
    for function, names in [
        (answer.model.visible, ["new", "known", "window"]),
        (answer.generate.pick, ["logits", "temperature", "generator"]),
        (answer.generate.beams, ["model", "prompt", "width", "count"]),
        (answer.serve.Server.ask, ["self", "user", "tokens", "count"]),
    ]:
        expect_equal(
            list(inspect.signature(function).parameters),
            names,
            f"the names of what {function.__name__} takes",
        )


def test_window(answer):
    """A token sees as many places as the window has, itself among them, and no padding."""
    places = torch.tensor([[-1, 0, 1, 2]])
    wanted = torch.tensor([[[NO] * 4, [NO, YES, NO, NO], [NO, YES, YES, NO], [NO, NO, YES, YES]]])
    yours = answer.model.visible(places, places, 2)
    call = "visible of padding and tokens 0, 1, 2, with a window of 2"
    expect_equal(yours[:, 1:], wanted[:, 1:], call)


def test_newest_places(answer):
    """The newest places are kept, the oldest forgotten."""
    cache = answer.cache.Cache(1)
    cache.place(torch.ones(1, 5, dtype=torch.bool))
    numbers = torch.arange(5.0).reshape(1, 1, 5, 1)
    cache.extend(0, numbers, numbers)
    cache.trim(2)
    kept = (
        cache.keys[0].flatten().tolist(),
        cache.values[0].flatten().tolist(),
        cache.known.flatten().tolist(),
    )
    expect_equal(
        kept, ([3.0, 4.0], [3.0, 4.0], [3, 4]), "the newest keys, values and positions after trim(2)"
    )


def test_suggestion(answer):
    """A conversation goes on as if a suggestion had been said in it."""
    server = answer.serve.Server(Letters())
    server.ask("ann", [1, 2], 2)
    before = dict(server.unread), server.caches["ann"].lengths.tolist()
    expect_equal(server.suggest("ann", [6], 2), [7, 8], "a suggestion behind 6")
    expect_equal(
        (dict(server.unread), server.caches["ann"].lengths.tolist()),
        before,
        "the conversation after a suggestion",
    )


@pytest.mark.fine
def test_pieces(answer):
    """A prompt of 40 tokens is read in three pieces."""
    model = Letters()
    answer.generate.generate(model, [list(range(9)) * 4 + [1, 2, 3, 4]], 1)
    sizes = [ids.size(1) for ids in model.read]
    expect_equal(sizes, [16, 16, 8], "how many tokens are read in each call for a prompt of 40")


@pytest.mark.fine
def test_end_of_a_batch(answer):
    """Once all rows have stopped, the model is not called again."""
    model = Letters()
    answer.generate.generate(model, [[1], [1]], 30, stop=5)
    calls = len(model.read)
    expect_that(calls == 4, f"the model is called {calls} times for two rows that stop after 4 tokens")


def oracle(answer, gen):
    ids, model = torch.randint(11, (3, 9), generator=gen), decoder(answer, gen, window=6)

    def steps():
        cache = answer.cache.Cache(3)
        with torch.no_grad():
            return torch.cat([model(part, cache=cache) for part in ids.split([4, 1, 3, 1], dim=1)], dim=1)

    def scores():
        return answer.generate.beams(model, ids[0].tolist(), 3, 4)[1]

    def padded():
        cache = answer.cache.Cache(2)
        some, real = answer.generate.padded([ids[1].tolist(), ids[2, :4].tolist()])
        with torch.no_grad():
            answer.generate.prefill(model, some, real, cache)
            return model(ids[:2, :1], cache=cache)[:, -1]

    return {
        "logits of whole texts": lambda: model(ids).detach(),
        "logits of texts in pieces": steps,
        "logits behind prompts of 9 and 4 tokens": padded,
        "scores of beams": scores,
    }
