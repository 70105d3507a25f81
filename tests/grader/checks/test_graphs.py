"""Graphs are counted, breaks and recompilations told, and compiled results held against plain ones."""

import pytest
import torch
import torch._dynamo

from grader.checks.compile.graphs import compiled, expect_compiles, warm_up
from grader.checks.failure import CheckFailure

Tensor = torch.Tensor


def smooth(x: Tensor, scale: float = 1.0) -> tuple[Tensor, int]:
    return torch.where(x > 0, x * scale, x.square()), 3


def test_a_function_without_breaks_passes() -> None:
    x, whole = torch.randn(3, 4).requires_grad_(), torch.arange(4)
    expect_compiles(smooth, [(x,), (-x,)], "smooth(x)")
    expect_compiles(lambda x, i: {"picked": x[i], "none": None}, [(torch.randn(4), whole)], "pick(x, i)")
    assert x.grad is None


def test_other_answers_are_judged_as_if_nothing_had_been_compiled() -> None:
    warm_up()
    torch.compile(smooth, backend="eager")(torch.ones(3))
    with pytest.raises(ValueError, match="within the support"):
        torch.distributions.Categorical(logits=torch.zeros(2)).log_prob(torch.tensor(2))


def test_a_break_is_told_with_its_line() -> None:
    def loud(x: Tensor) -> Tensor:
        print("sum", x.sum())
        return x + 1

    def branching(x: Tensor) -> Tensor:
        return x + 1 if x.sum() > 0 else x

    with pytest.raises(CheckFailure, match=r"(?s)one graph\n  yours .*test_graphs.py:\d+   print\(.sum"):
        expect_compiles(loud, [(torch.ones(2),)], "loud(x)")
    with pytest.raises(CheckFailure, match=r"(?s)yours   Data-dependent branching\n.*if x.sum\(\) > 0"):
        expect_compiles(branching, [(torch.ones(2),)], "branching(x)")
    with compiled(loud, "loud(x)", fullgraph=False) as captured:
        captured(torch.ones(2))
        assert len(captured.graphs) == 2


def test_recompilations_are_counted() -> None:
    batches = [(torch.ones(2), scale) for scale in (1, 2, 3)]
    with pytest.raises(
        CheckFailure, match=r"(?s)number of graphs.*yours   \d graphs for 3 calls\n  wanted  1"
    ):
        expect_compiles(smooth, batches, "smooth(x, scale)")
    expect_compiles(smooth, batches, "smooth(x, scale)", graphs=None)
    sizes = [(torch.ones(n),) for n in (3, 4, 5)]
    expect_compiles(smooth, sizes, "smooth(x)", dynamic=True)
    with pytest.raises(CheckFailure, match=r"likely  a size is made a plain number"):
        expect_compiles(lambda x: sum(x[n] for n in range(len(x))), sizes, "total(x)", dynamic=True)


def test_the_limit_of_recompilations_is_told() -> None:
    def named(x: Tensor, name: str) -> Tensor:
        return x * len(name)

    batches = [(torch.ones(2), "n" * count) for count in range(1, 12)]
    with pytest.raises(CheckFailure, match=r"named\(x\) is compiled again(?s:.)*limit is reached"):
        expect_compiles(named, batches, "named(x)")


def test_other_results_and_gradients_when_compiled() -> None:
    def other(x: Tensor) -> Tensor:
        return x * 2 if torch.compiler.is_compiling() else x * 3

    def cut(x: Tensor) -> Tensor:
        return x * (x.detach() if torch.compiler.is_compiling() else x)

    x = torch.rand(3).requires_grad_()
    with pytest.raises(CheckFailure, match=r"other\(x\) when compiled"):
        expect_compiles(other, [(x,)], "other(x)")
    with pytest.raises(CheckFailure, match=r"the gradient for tensor 1 through cut\(x\) when compiled"):
        expect_compiles(cut, [(x,)], "cut(x)")


def test_settings_of_an_answer_do_not_count() -> None:
    def loud(x: Tensor) -> Tensor:
        print("sum", x.sum())
        return x + 1

    with torch._dynamo.config.patch(reorderable_logging_functions={print}):
        with pytest.raises(CheckFailure, match="one graph"):
            expect_compiles(loud, [(torch.ones(2),)], "loud(x)")
        assert torch._dynamo.config.reorderable_logging_functions == {print}


def test_a_stub_is_still_a_stub() -> None:
    def stub(x: Tensor) -> Tensor:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        expect_compiles(stub, [(torch.ones(2),)], "stub(x)")
