"""What grades continuous_batching: who runs when, and tokens as alone; padding, idle steps, errors."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.devices import is_simulated


class Reader(nn.Module):
    """A causal model, in float64, so that a batch rounds no token away from what it is alone."""

    def __init__(self, gen, vocab, end, patience=0.0):
        super().__init__()
        self.register_buffer("tokens", torch.randn(vocab, 12, generator=gen).double())
        self.out = nn.Parameter(torch.randn(12, vocab, generator=gen).double())
        self.register_buffer("bias", -patience * nn.functional.one_hot(torch.tensor(end), vocab))
        self.seen, self.graphs = [], []

    def forward(self, ids):
        expect_that(ids.dim() == 2, "the model is called with ids that are not (running, time)", yours=ids)
        self.seen.append(ids.clone())
        self.graphs.append(torch.is_grad_enabled())
        return self.tokens[ids].cumsum(1).sin().cumsum(1) @ self.out + self.bias


@torch.no_grad()
def alone(model, prompt, new, end):
    """The new tokens of one request that has the model for itself."""
    ids = prompt.tolist()
    for _ in range(new):
        ids.append(int((model.tokens[ids].cumsum(0).sin().sum(0) @ model.out + model.bias).argmax()))
        if ids[-1] == end:
            break
    return ids[len(prompt) :]


def requests(gen, vocab, *how):
    """What is asked for: the step before which it comes, a prompt, and the most new tokens."""
    return [(at, torch.randint(vocab, (length,), generator=gen), new) for at, length, new in how]


class Played:
    """Steps of an engine, each compared with what should run and be done by then."""

    def __init__(self, answer, model, slots, end, **budget):
        self.model, self.slots, self.end = model, slots, end
        self.engine, self.budget = answer.Engine(model, slots, end, **budget), budget.get("budget", 10**9)
        self.prompts, self.wanted, self.left = [], [], []
        self.step_number = 0

    def submit(self, prompt, new):
        self.prompts.append(prompt)
        self.wanted.append(alone(self.model, prompt, new, self.end))
        self.left.append(len(self.wanted[-1]))
        yours = self.engine.submit(prompt, new)
        expect_equal(yours, len(self.left) - 1, f"what submit returns for request {len(self.left) - 1}")

    def step(self):
        """One step, and whether something was to do."""
        running = self.running()
        before, self.step_number = len(self.model.seen), self.step_number + 1
        found = {n: torch.as_tensor(ids).tolist() for n, ids in self.engine.step().items()}
        calls, when = self.model.seen[before:], f"step {self.step_number}, {self.slots} slots"
        facts = {"yours": len(calls), "wanted": int(bool(running))}
        expect_that(
            len(calls) == int(bool(running)), f"{when}: the model is called too often or not at all", **facts
        )
        yours = len(calls[0]) if calls else 0
        if yours != len(running):
            few = "a slot is free while a request waits, or a request is gone that is not done"
            likely = (
                few if yours < len(running) else "more run than there are slots, or one that is done goes on"
            )
            told = f"{when}: another number of requests runs"
            expect_that(False, told, yours=yours, wanted=f"{len(running)}: {running}", likely=likely)
        for number in running:
            self.left[number] -= 1
        done = [number for number in running if not self.left[number]]
        expect_equal(sorted(found), done, f"the numbers of the requests that are done after {when}")
        for number in done:
            self.compare(found[number], number, when)
        return bool(running)

    def running(self):
        """The numbers of those that run: the first that are not done, as many as there is room for."""
        found, held = [], 0
        for number in (number for number, left in enumerate(self.left) if left):
            held += len(self.prompts[number]) + len(self.wanted[number]) - self.left[number]
            if len(found) == self.slots or (found and held > self.budget):
                break
            found.append(number)
        return found

    def compare(self, yours, number, when):
        prompt, wanted = self.prompts[number].tolist(), self.wanted[number]
        if yours != wanted:
            starts = [p.tolist() for p in self.prompts]
            rows = [row.tolist() for ids in self.model.seen for row in ids]
            in_front = not all(any(row[: len(p)] == p for p in starts) for row in rows)
            reads = (
                "the logits of the padding are read: those after a row's last token stand at its length - 1"
            )
            likely = "padding stands in front of the tokens" if in_front else reads
            if yours in (prompt + wanted, wanted[:-1]):
                likely = (
                    "the prompt is returned as well" if yours != wanted[:-1] else "the last token is missing"
                )
            told = f"other new tokens than request {number} gets alone, done after {when}"
            expect_that(False, told, yours=yours, wanted=wanted, likely=likely)

    def through(self, events):
        """Submit each request in time, and step until all is done."""
        for step in range(200):
            for _, prompt, new in (event for event in events if event[0] == step):
                self.submit(prompt, new)
            if not self.step() and step > max(at for at, _, _ in events):
                return


CROWDS = {
    "one after the other": (1, [(0, 3, 4), (0, 1, 2), (0, 5, 3)]),
    "as many slots as requests": (4, [(0, 2, 6), (0, 7, 3), (0, 1, 5), (0, 4, 4)]),
    "more requests than slots": (2, [(0, 3, 6), (0, 2, 2), (0, 5, 4), (0, 1, 1), (0, 4, 5), (0, 1, 3)]),
    "requests that come later": (
        3,
        [(0, 3, 7), (0, 1, 3), (1, 6, 2), (2, 2, 8), (2, 1, 2), (4, 3, 3), (5, 2, 1)],
    ),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_steps(answer, gen, crowd):
    """At each step the right requests run, and they get the tokens that they get alone."""
    slots, how = CROWDS[crowd]
    played = Played(answer, Reader(gen, 11, 4, patience=99.0), slots, 4)
    played.through(requests(gen, 11, *how))


def test_end(answer, gen):
    """A request that says the end token is done, and its slot is free for the next one."""
    for _ in range(4):
        played = Played(answer, Reader(gen, 5, 2), 2, 2)
        played.through(requests(gen, 5, *[(step // 2, 1 + step % 4, 9) for step in range(9)]))


@pytest.mark.fine
def test_budget(answer, gen):
    """Those that run have at most `budget` tokens; who came last goes back, and keeps its new tokens."""
    for budget in (1, 9, 14):
        played = Played(answer, Reader(gen, 11, 4, patience=99.0), 3, 4, budget=budget)
        how = [(0, 3, 6), (0, 2, 5), (0, 4, 3), (1, 1, 4), (2, 6, 2), (3, 12, 2), (4, 1, 1)]
        played.through(requests(gen, 11, *how))


@pytest.mark.fine
def test_padding(answer, gen):
    """ids are padded with 0, and as long as the longest request that runs."""
    model = Reader(gen, 9, 5, patience=99.0)
    engine = answer.Engine(model, 2, 5)
    long, short = torch.tensor([1, 2, 3, 4, 6]), torch.tensor([7, 8])
    engine.submit(long, 1)
    engine.submit(short, 2)
    engine.step()
    engine.step()
    yours = [sorted(ids.tolist()) for ids in model.seen]
    wanted = [[[1, 2, 3, 4, 6], [7, 8, 0, 0, 0]], [[7, 8, *alone(model, short, 1, 5)]]]
    expect_equal(yours, wanted, "the ids of two steps")


@pytest.mark.fine
def test_idle(answer, gen):
    """Where nothing runs, step returns {} and calls no model; later requests run as ever."""
    played = Played(answer, Reader(gen, 7, 3, patience=99.0), 2, 3)
    played.step()
    played.through(requests(gen, 7, (0, 2, 2)))
    played.step()
    played.through(requests(gen, 7, (0, 2, 2), (1, 3, 1), (6, 1, 2)))


@pytest.mark.fine
def test_gradients_are_off(answer, gen):
    """Gradients are off while the model runs."""
    played = Played(answer, Reader(gen, 7, 3), 2, 3)
    played.through(requests(gen, 7, (0, 2, 3)))
    expect_that(not any(played.model.graphs), "the model runs with gradients switched on")
    expect_that(torch.is_grad_enabled(), "gradients are switched off behind engine.step()")


@pytest.mark.fine
def test_prompts_are_left_alone(answer, gen):
    """A prompt stays as it is, and is the caller's to change after submit."""
    model, prompt = Reader(gen, 8, 3, patience=99.0), torch.tensor([5, 1, 2])
    wanted, engine = alone(model, prompt, 3, 3), answer.Engine(model, 1, 3)
    engine.submit(prompt, 3)
    expect_equal(prompt.tolist(), [5, 1, 2], "the prompt after submit(prompt, 3)")
    prompt.zero_()
    found = [engine.step() for _ in range(3)][-1]
    yours = torch.as_tensor(found[0]).tolist()
    expect_equal(yours, wanted, "the new tokens of a prompt that was changed after submit")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """A model and prompts on another device get ids there."""
    model, prompt = Reader(gen, 8, 3, patience=99.0), torch.tensor([5, 1, 2])
    wanted, engine = alone(model, prompt, 2, 3), answer.Engine(model.to(device), 2, 3)
    engine.submit(prompt.to(device), 2)
    engine.submit(prompt[:1].to(device), 3)
    engine.step()
    yours = engine.step()[0]
    expect_that(all(is_simulated(ids) for ids in [*model.seen, yours]), "ids leave the device")
    expect_equal(yours.cpu().tolist(), wanted, "the new tokens on a device")


@pytest.mark.fine
def test_refused(answer, gen):
    """ValueError for a prompt without tokens, and for max_new_tokens or slots below 1."""
    model, prompt = Reader(gen, 8, 3), torch.tensor([5, 1, 2])
    engine = answer.Engine(model, 2, 3)
    expect_raises(ValueError, lambda: engine.submit(prompt[:0], 3), "submit of an empty prompt")
    expect_raises(ValueError, lambda: engine.submit(prompt, 0), "submit(prompt, 0)")
    expect_raises(ValueError, lambda: answer.Engine(model, 0, 3), "Engine(model, 0, 3)")
    expect_equal(engine.submit(prompt, 1), 0, "the number of the first request, after errors")


def oracle(answer, gen):
    def played(gen, crowd):
        slots, how = CROWDS[crowd]
        played = Played(answer, Reader(gen, 40, 7), slots, 7)
        played.through(requests(gen, 40, *how))
        return [played.wanted, [list(ids.shape) for ids in played.model.seen]]

    return {crowd: lambda gen, crowd=crowd: played(gen, crowd) for crowd in CROWDS}
