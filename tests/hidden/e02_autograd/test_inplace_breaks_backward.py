"""What grades inplace_breaks_backward: values, gradients, inputs left alone; callers in place, shapes."""

import pytest
import torch

from grader.checks import expect_close, expect_copy, expect_gradients
from grader.checks.contract import Contract, dtypes, empties, errors, given, untouched, values


def traces(x, decay, initial):
    """Each trace as one sum over what came before it, faded by a product of decays."""
    found = []
    for t in range(len(x)):
        total, faded = x[t], torch.ones_like(initial)
        for before in reversed([initial, *x[:t]]):
            faded = faded * decay
            total = total + faded * before
        found.append(total)
    return torch.stack(found) if found else x.clone()


def draw(gen, steps, features, each):
    decay = torch.rand(features if each else (), generator=gen)
    return given(
        torch.randn(steps, *features, generator=gen), decay, torch.randn(features, generator=gen) + 2.0
    )


def ordinary(gen):
    return {
        "one decay for all features": draw(gen, 4, (3,), False),
        "a decay for each feature": draw(gen, 3, (3,), True),
        "two dimensions of features": draw(gen, 6, (2, 3), True),
        "a single step": draw(gen, 1, (4,), False),
    }


def ends(gen):
    x, _, initial = draw(gen, 4, (3,), True).args
    return {"decays of 0, 1 and 0.5": given(x, torch.tensor([0.0, 1.0, 0.5]), initial)}


contract = Contract(
    "leaky_traces(x, decay, initial)",
    reference=traces,
    inputs=ordinary,
    gradient="x decay initial",
    scale=20.0,
    suspects={
        "the input fades, too: it is added after the decay": lambda x, decay, initial: traces(
            x * decay, decay, initial
        ),
        "initial is ignored": lambda x, decay, initial: traces(x, decay, 0 * initial),
    },
    job=[untouched()],
    fine=[
        values(
            inputs=ends, name="decays_of_0_and_1", title="Decays of exactly 0 and 1 are decays like others."
        ),
        empties(inputs=lambda gen: [draw(gen, 0, (2, 3), True)], title="No steps give an empty result."),
        dtypes(torch.float64, ulps=16),
        errors(
            ValueError,
            lambda gen: [
                given(torch.zeros(2, *step), torch.tensor(0.5), torch.zeros(other))
                for step, other in [((3,), ()), ((3,), (1,)), ((2, 3), (3,)), ((3,), (1, 3)), ((1,), (3,))]
            ],
            title="An initial trace of another shape raises ValueError, also one that would broadcast.",
        ),
    ],
)


def test_two_sequences_from_one_initial(answer, gen):
    """A second sequence from the same initial trace comes out right."""
    first, decay, initial = draw(gen, 4, (3,), False).args
    second = torch.randn(5, 3, generator=gen)
    wanted = traces(second.double(), decay.double(), initial.double()).float()
    with torch.no_grad():
        answer.leaky_traces(first, decay, initial)
    after = initial.clone()
    suspects = {"the first sequence has changed initial": lambda: traces(second, decay, after)}
    call = "leaky_traces(x, decay, initial), the second call with one initial"
    expect_close(answer.leaky_traces(second, decay, initial), wanted, call, scale=20.0, suspects=suspects)


def test_gradient_through_many_steps(answer, gen):
    """In a long sequence, too, the gradient of the last trace reaches the first step, and initial."""
    x, initial = torch.randn(60, 2, generator=gen), torch.randn(2, generator=gen)
    expect_gradients(
        lambda *given: answer.leaky_traces(*given)[-1],
        [x, torch.tensor([0.99, 0.97]), initial],
        lambda *given: traces(*given)[-1],
        gen=gen,
        call="leaky_traces(x, decay, initial)[-1] with 60 steps",
        names="x decay initial",
        scale=1000.0,
    )


@pytest.mark.fine
def test_caller_goes_on_in_place(answer, gen):
    """Callers may change the result in place: no input changes, and the gradients are right."""
    for steps in (3, 1, 0):
        x, decay, initial = draw(gen, steps, (3,), False).args
        yours = answer.leaky_traces(x, decay, initial)
        for name, tensor in [("x", x), ("initial", initial)]:
            expect_copy(yours, tensor, f"leaky_traces(x, decay, initial) with {steps} steps, {name},")
        answer.leaky_traces(x.requires_grad_(), decay, initial).relu_()
    expect_gradients(
        lambda *given: answer.leaky_traces(*given).mul_(2).sigmoid_(),
        draw(gen, 4, (3,), True).args,
        lambda *given: (traces(*given) * 2).sigmoid(),
        gen=gen,
        call="leaky_traces(x, decay, initial).mul_(2).sigmoid_()",
        names="x decay initial",
        scale=20.0,
    )
