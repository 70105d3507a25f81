"""What grades with_fallback: values, the way back, gradients, what works there; tuples, other errors."""

import pytest
import torch
from torch import Tensor

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host

CALL = "with_fallback(operation)(...)"


class Operation:
    """Weighted running sums, which write down where they are asked for, and are lacking in some places."""

    def __init__(self, lacking=("device",), error=None, pair=False):
        self.lacking, self.pair, self.places = lacking, pair, []
        self.error = error or NotImplementedError("The operator 'aten::cumsum' is not implemented here")

    def __call__(self, scale, x, *, weight, dim=0):
        places = {"device" if is_simulated(value) else "cpu" for value in (x, weight)}
        self.places.append(" and ".join(sorted(places)))
        if self.places[-1] in self.lacking:
            raise self.error
        y = scale * (x * weight).cumsum(dim)
        return (y, "running", x + weight) if self.pair else y


def drawn(gen, device="cpu"):
    x, weight = torch.randn(4, 3, generator=gen), torch.randn(4, 3, generator=gen)
    return x.to(device).requires_grad_(), weight.to(device).requires_grad_()


def computed(x, weight, scale=3.0, dim=1):
    return scale * (on_host(x) * on_host(weight)).cumsum(dim)


def expect_back(yours, call):
    likely = "the result is still on the CPU" if isinstance(yours, Tensor) else ""
    expect_that(is_simulated(yours), f"{call} is not on the device", yours=yours, likely=likely)


def test_values(answer, device, gen):
    """What the device lacks is computed on the CPU, with tensors by position and by keyword."""
    operation = Operation()
    run = answer.with_fallback(operation)
    for dim in (0, 1):
        x, weight = drawn(gen, device)
        yours = run(3.0, x, weight=weight, dim=dim)
        wanted = computed(x, weight, dim=dim)
        values = on_host(yours) if is_simulated(yours) else yours.detach()
        expect_close(values, wanted, f"{CALL} with {dim=}")
    expect_equal(operation.places[-1], "cpu", "the place where the operation runs at last")


def test_result_is_on_the_device(answer, device, gen):
    """The result comes back to the device."""
    x, weight = drawn(gen, device)
    expect_back(answer.with_fallback(Operation())(3.0, x, weight=weight), CALL)


def test_gradients(answer, device, gen):
    """Gradients reach the tensors that were given, on their device."""
    x, weight = drawn(gen, device)
    yours = answer.with_fallback(Operation())(3.0, x, weight=weight, dim=1)
    expect_that(yours.requires_grad, f"{CALL} has no history: the gradient ends there")
    upstream = torch.randn(4, 3, generator=gen)
    yours.backward(upstream.to(yours.device))
    a, b = on_host(x).requires_grad_(), on_host(weight).requires_grad_()
    (3.0 * (a * b).cumsum(1)).backward(upstream)
    for name, given, wanted in (("x", x, a.grad), ("weight", weight, b.grad)):
        expect_that(given.grad is not None, f"no gradient reaches {name} through {CALL}")
        expect_close(on_host(given.grad), wanted, f"the gradient of {name}")


def test_what_works_stays(answer, device, gen):
    """An operation that the device has runs there, once, and nothing is moved."""
    operation = Operation(lacking=())
    x, weight = drawn(gen, device)
    with count_traffic() as traffic:
        yours = answer.with_fallback(operation)(3.0, x, weight=weight)
    expect_equal(operation.places, ["device"], "the places where an operation runs that the device has")
    expect_no_traffic(traffic, CALL)
    expect_back(yours, CALL)


@pytest.mark.parametrize("kind", [RuntimeError, ValueError], ids=["runtime", "value"])
def test_other_errors(answer, device, gen, kind):
    """Another error reaches the caller, without a second attempt."""
    operation = Operation(error=kind("the sizes do not fit"))
    x, weight = drawn(gen, device)
    run = answer.with_fallback(operation)
    expect_raises(kind, lambda: run(3.0, x, weight=weight), f"{CALL}, where the operation raises it")
    expect_equal(
        operation.places, ["device"], f"the places where the operation runs, which raises {kind.__name__}"
    )


@pytest.mark.fine
def test_tuples(answer, device, gen):
    """Of a tuple, the tensors come back to the device, and all else as it is."""
    x, weight = drawn(gen, device)
    yours = answer.with_fallback(Operation(pair=True))(3.0, x, weight=weight, dim=1)
    expect_that(isinstance(yours, tuple) and len(yours) == 3, f"{CALL} is no tuple of three", yours=yours)
    expect_equal(yours[1], "running", "the text in the tuple")
    for place, wanted in ((0, computed(x, weight)), (2, on_host(x) + on_host(weight))):
        expect_back(yours[place], f"{CALL}[{place}]")
        expect_close(on_host(yours[place]), wanted, f"{CALL}[{place}]")


@pytest.mark.fine
def test_lacking_everywhere(answer, device, gen):
    """Where the CPU lacks it as well, its error reaches the caller."""
    operation = Operation(lacking=("device", "cpu"))
    x, weight = drawn(gen, device)
    run = answer.with_fallback(operation)
    expect_raises(NotImplementedError, lambda: run(3.0, x, weight=weight), CALL, words="cumsum")
    expect_equal(operation.places, ["device", "cpu"], "the places where the operation is tried")


def oracle(answer, gen):
    def found(scale, dim):
        x, weight = drawn(gen)
        upstream = torch.randn(4, 3, generator=gen)

        def run():
            y = answer.with_fallback(Operation())(scale, x, weight=weight, dim=dim)
            return [y.detach(), *torch.autograd.grad(y, [x, weight], upstream)]

        return run

    return {"sums of columns": found(3.0, 0), "sums of rows": found(2.0, 1), "negative sums": found(-1.5, -1)}
