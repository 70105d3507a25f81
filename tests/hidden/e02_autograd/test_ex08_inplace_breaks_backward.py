"""What grades inplace_breaks_backward: inputs left alone, gradients of both orders, in-place callers."""

import torch

from grader.checks import expect_close, expect_copy, expect_equal, expect_gradients, expect_raises, unchanged

NAMES = "x decay initial"
CALL = "leaky_traces(x, decay, initial)"


def traces(x, decay, initial):
    """Each trace as one sum over what came before it, faded by a product of decays."""
    decay = decay.expand(initial.shape)
    found = []
    for t in range(len(x)):
        total = x[t]
        faded = torch.ones_like(initial)
        for before in reversed([initial, *x[:t]]):
            faded = faded * decay
            total = total + faded * before
        found.append(total)
    return torch.stack(found) if found else x.clone()


def inputs(gen, steps=4, features=(3,), each=True, dtype=torch.float32):
    x = torch.randn(steps, *features, generator=gen, dtype=torch.float64)
    decay = torch.rand(features if each else (), generator=gen, dtype=torch.float64)
    initial = torch.randn(features, generator=gen, dtype=torch.float64)
    return x.to(dtype), decay.to(dtype), initial.to(dtype)


def exact(x, decay, initial):
    return traces(x.double(), decay.double(), initial.double()).to(x.dtype)


def error_of(call):
    """What a call raises, in words."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return None


def test_values(answer, gen):
    """Traces are right for one decay or one for each feature, and features of any shape."""
    for features in [(3,), (2, 3), (1,), ()]:
        for each in (True, False):
            for steps in (5, 1):
                given = inputs(gen, steps, features, each)
                wanted = exact(*given)
                call = f"{CALL}, {steps} steps of features {features}, decay of shape {tuple(given[1].shape)}"
                expect_close(answer.leaky_traces(*given), wanted, call, scale=5.0)
    x, decay, initial = inputs(gen)
    x[0, 0] = torch.nan
    lost = answer.leaky_traces(x, decay, initial).isnan()
    wanted = torch.tensor([[True, False, False]] * 4)
    expect_equal(lost, wanted, f"where {CALL} is NaN, if x is in the first step of the first feature,")


def test_no_steps(answer, gen):
    """No steps give an empty result."""
    for dtype in (torch.float32, torch.float64):
        x, decay, initial = inputs(gen, 0, (2, 3), dtype=dtype)
        wanted = torch.empty(0, 2, 3, dtype=dtype)
        expect_equal(answer.leaky_traces(x, decay, initial), wanted, f"{CALL} without steps, in {dtype}")


def test_strided_inputs(answer, gen):
    """Strided and expanded inputs give the same traces."""
    x = torch.randn(3, 4, generator=gen).t()
    decay, initial = torch.tensor([0.25]).expand(3), torch.randn(1, generator=gen).expand(3)
    wanted = exact(x, decay, initial)
    expect_close(answer.leaky_traces(x, decay, initial), wanted, f"{CALL} of strided inputs", scale=5.0)


def test_dtype(answer, gen):
    """float64 stays float64, computed as such, and half precision stays what it is."""
    given = inputs(gen, dtype=torch.float64)
    expect_close(answer.leaky_traces(*given), exact(*given), f"{CALL} in float64", scale=5.0)
    for dtype in (torch.bfloat16, torch.float16):
        given = inputs(gen, dtype=dtype)
        expect_close(answer.leaky_traces(*given), exact(*given), f"{CALL} in {dtype}", ulps=16, scale=3.0)


def test_inputs_are_left_alone(answer, gen):
    """x, decay and initial are the same afterwards, so that a second call gives the same traces."""
    x, decay, initial = inputs(gen)
    wanted = exact(x, decay, initial)
    with torch.no_grad(), unchanged(f"{CALL} under no_grad", x=x, decay=decay, initial=initial):
        answer.leaky_traces(x, decay, initial)
    expect_close(answer.leaky_traces(x, decay, initial), wanted, f"{CALL}, the second call", scale=5.0)


def test_gradients(answer, gen):
    """Gradients reach x, decay and initial through all steps, of first and of second order."""
    for steps, features, each in [(4, (3,), True), (4, (2, 3), False), (1, (3,), False), (3, (), True)]:
        for dtype in (torch.float32, torch.float64):
            given = inputs(gen, steps, features, each, dtype)
            call = f"leaky_traces(…), {steps} steps, decay {tuple(given[1].shape)}, {dtype}"
            expect_gradients(
                answer.leaky_traces,
                given,
                traces,
                gen=gen,
                call=call,
                names=NAMES,
                second_order=True,
                scale=10.0,
            )


def test_gradients_through_many_steps(answer, gen):
    """In a long sequence too, the gradient of the last trace reaches the first step, and initial."""

    def step_by_step(x, decay, initial):
        found = [initial]
        for step in x.unbind():
            found.append(decay * found[-1] + step)
        return torch.stack(found[1:])

    x, _, initial = inputs(gen, 150, (3,), dtype=torch.float64)
    given = x, torch.tensor([1.0, 0.99, 0.001], dtype=torch.float64), initial
    expect_gradients(
        answer.leaky_traces,
        given,
        step_by_step,
        gen=gen,
        call=f"{CALL} with 150 steps",
        names=NAMES,
        scale=2000.0,
    )
    for decay, wanted in ((1.0, 1100.0), (0.5, 2.0)):
        with torch.no_grad():
            last = answer.leaky_traces(torch.ones(1100), torch.tensor(decay), torch.zeros(()))[-1]
        call = f"the last trace of {CALL} with 1100 steps of ones and a decay of {decay}"
        expect_close(last, torch.tensor(wanted), call)


def test_gradients_at_the_ends(answer, gen):
    """Decays of exactly 0 and 1 have gradients as well, and so has an initial trace of zeros."""
    x, _, initial = inputs(gen)
    for decay in ([0.0, 1.0, 0.5], 0.0, 1.0):
        given = x, torch.tensor(decay), initial
        call = f"{CALL} with a decay of {decay}"
        expect_close(answer.leaky_traces(*given), exact(*given), call, scale=5.0)
        expect_gradients(answer.leaky_traces, given, traces, gen=gen, call=call, names=NAMES, scale=10.0)
    for steps in (4, 1):
        given = x[:steps], torch.tensor(0.5), initial * 0
        call = f"{CALL}, {steps} steps, where initial is all zeros"
        expect_gradients(answer.leaky_traces, given, traces, gen=gen, call=call, names=NAMES, scale=10.0)


def test_some_inputs_require_gradients(answer, gen):
    """Backward works whichever of the inputs requires a gradient, within a network too."""
    x, decay, initial = inputs(gen)
    for position, name in enumerate(NAMES.split()):

        def only(fn, position=position):
            def call(one):
                given = [t.to(one.dtype) for t in (x, decay, initial)]
                given[position] = one * 1.0
                return fn(*given)

            return call

        expect_gradients(
            only(answer.leaky_traces),
            [(x, decay, initial)[position]],
            only(traces),
            gen=gen,
            call=f"{CALL} where only {name} requires a gradient",
            names=name,
            scale=10.0,
        )


def test_caller_goes_on_in_place(answer, gen):
    """Callers may change the result in place: no input changes, and the gradients are right."""
    for steps in (4, 1, 0):
        x, decay, initial = inputs(gen, steps)
        yours = answer.leaky_traces(x, decay, initial)
        for name, tensor in [("x", x), ("initial", initial)]:
            expect_copy(yours, tensor, f"{CALL} with {steps} steps, {name},")
    x, _, initial = inputs(gen)
    yours = answer.leaky_traces(x, torch.tensor(0.0), initial)
    expect_copy(yours, x, f"{CALL} with a decay of 0.0, x,")
    given = [t.requires_grad_() for t in inputs(gen, 0)]
    raised = error_of(lambda: answer.leaky_traces(*given).relu_())
    expect_equal(raised, None, f"the error of {CALL}.relu_(), without steps, where x requires a gradient,")
    call = f"{CALL}.mul_(2).sigmoid_()"
    fn = lambda *given: answer.leaky_traces(*given).mul_(2).sigmoid_()  # noqa: E731
    reference = lambda *given: (traces(*given) * 2).sigmoid()  # noqa: E731
    expect_gradients(fn, inputs(gen), reference, gen=gen, call=call, names=NAMES, scale=10.0)


def test_other_shapes_are_refused(answer):
    """An initial trace of any other shape gets a ValueError, also one that would broadcast."""
    for step, other in [
        ((3,), ()),
        ((3,), (1,)),
        ((2, 3), (3,)),
        ((2, 3), (3, 2)),
        ((1,), (3,)),
        ((3,), (1, 3)),
        ((3,), (0,)),
        ((0,), (2, 0)),
    ]:
        for steps in (2, 0):
            x, initial = torch.zeros(steps, *step), torch.zeros(other)
            call = f"{CALL}, steps of shape {step} and initial of shape {other}"
            expect_raises(
                ValueError, lambda x=x, i=initial: answer.leaky_traces(x, torch.tensor(0.5), i), call
            )


def oracle(answer, gen):
    given = [t.requires_grad_() for t in inputs(gen, 5, (2, 3), dtype=torch.float64)]
    found = answer.leaky_traces(*given)
    found.backward(torch.randn(found.shape, generator=gen, dtype=torch.float64))
    return [found.detach(), *(t.grad for t in given), given[2].detach()]
