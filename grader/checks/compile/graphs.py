"""What `torch.compile` makes of an answer: how many graphs, and whether they compute the same.

Graphs are captured and counted, and then run as they are: no code is generated, so this takes
milliseconds and needs no C++ compiler. Importing the compiler takes seconds, so that waits for the
first capture: most runs of pytest collect these suites and run others.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from traceback import FrameSummary
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import compiler, compiler_defaults, tree_leaves, tree_map_only
from grader.checks.failure import CheckFailure
from grader.checks.values import expect_close, expect_equal
from grader.course import paths

__all__ = ["compiled", "expect_compiles"]

_TORCH = str(Path(torch.__file__).parent)
_SIZES = "a size is made a plain number, and the graph is for that one alone: `int(n)`, or a length as a key?"


def warm_up() -> None:
    """Import what the first capture needs, in a parent that forks, and leave no trace on other answers.

    The first compilation of a process switches the checks of torch.distributions off, for everything that
    is judged there afterwards. So it happens here, and they are switched on again.
    """
    compiler()
    import_module("functorch.compile")
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    torch.compiler.reset()
    torch.distributions.Distribution.set_default_validate_args(__debug__)


class Compiled:
    """A function compiled by a backend that counts the graphs it is handed. See `compiled`."""

    def __init__(self, fn: Callable[..., Any], call: str, *, fullgraph: bool, dynamic: bool | None) -> None:
        self.graphs: list[torch.fx.GraphModule] = []
        self._call = call
        self._compiled = torch.compile(fn, backend=self._keep, fullgraph=fullgraph, dynamic=dynamic)

    def _keep(self, graph: torch.fx.GraphModule, inputs: Sequence[object]) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph.forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `fn` returns. Raises CheckFailure where it cannot be captured, or is captured too often."""
        try:
            return self._compiled(*args, **kwargs)
        except compiler().exc.FailOnRecompileLimitHit:
            raise CheckFailure(
                f"{self._call} is compiled again and again",
                yours=f"{_counted(len(self.graphs))}, and the compiler's limit is reached",
                wanted="graphs that serve later calls as well",
            ) from None
        except compiler().exc.TorchDynamoException as error:
            raise CheckFailure(
                f"{self._call} does not compile in one graph",
                yours=_headline(error),
                **_place(error),
                wanted="one graph, captured with `fullgraph=True`",
            ) from None


@contextmanager
def compiled(
    fn: Callable[..., Any], call: str, *, fullgraph: bool = True, dynamic: bool | None = None
) -> Iterator[Compiled]:
    """`fn` compiled afresh, under the default settings, and forgotten by the compiler afterwards.

    With `fullgraph` each of its `graphs` is one compilation; without it, breaks add graphs as well.

    Args:
        fn: the answer.
        call: the call as a learner would write it.
        fullgraph, dynamic: as `torch.compile` takes them.

    Example:
        def test_one_graph_for_all_sizes(answer):
            with compiled(answer.gram, "gram(x)", dynamic=True) as gram:
                for rows in (3, 4, 5):
                    gram(torch.ones(rows, 2))
            expect_equal(len(gram.graphs), 1, "the number of graphs for three sizes")
    """
    changed = _changed_settings()
    torch.compiler.reset()
    try:
        with compiler().config.patch(changed):
            yield Compiled(fn, call, fullgraph=fullgraph, dynamic=dynamic)
    finally:
        torch.compiler.reset()


def _changed_settings() -> dict[str, Any]:
    """The default of every compiler setting that an answer has changed."""
    now = compiler().config.get_config_copy()
    return {name: default for name, default in compiler_defaults().items() if now[name] != default}


def expect_compiles(
    fn: Callable[..., Any],
    batches: Sequence[Sequence[Any]],
    call: str,
    *,
    graphs: int | None = 1,
    dynamic: bool | None = None,
) -> None:
    """Fail unless `fn` is captured whole and, for each of `batches`, does the same as without compiling.

    Results and the gradients of all inputs are compared up to rounding. Tensors that require a
    gradient get one; the inputs are not changed.

    Args:
        fn: the answer.
        batches: the arguments of each call; one compiled function takes them in turn.
        call: the call as a learner would write it.
        graphs: how many graphs serve all batches together; more means that it was compiled again.
        dynamic: as `torch.compile` takes it.

    Example:
        def test_compiles(answer, gen):
            batches = [[torch.randn(3, generator=gen)] for _ in range(2)]
            expect_compiles(answer.clipped, batches, "clipped(x)")
    """
    plain = [_run(fn, batch) for batch in batches]
    with compiled(fn, call, dynamic=dynamic) as captured:
        for batch, (wanted, gradients) in zip(batches, plain, strict=True):
            results, mine = _run(captured, batch)
            _expect_same(results, wanted, f"{call} when compiled")
            for number, (yours, right) in enumerate(zip(mine, gradients, strict=True), start=1):
                of = f"the gradient for tensor {number} through {call} when compiled"
                _expect_same([yours], [right], of)
    if graphs is not None and len(captured.graphs) != graphs:
        raise CheckFailure(
            f"wrong number of graphs for {call}",
            yours=f"{_counted(len(captured.graphs))} for {len(batches)} calls",
            wanted=_counted(graphs),
            likely=_SIZES if dynamic and len(captured.graphs) == len(batches) else "",
        )


def _run(fn: Callable[..., Any], batch: Sequence[Any]) -> tuple[list[Any], list[Tensor]]:
    """All that `fn` returns, flat and detached, and the gradients of the sum of squares of its results."""
    batch = tree_map_only(Tensor, lambda x: x.detach().clone().requires_grad_(x.requires_grad), tuple(batch))
    leaves = [x for x in tree_leaves(batch) if isinstance(x, Tensor) and x.requires_grad]
    results = tree_leaves(fn(*batch))
    differentiable = [r for r in results if isinstance(r, Tensor) and r.requires_grad]
    # squares, so that a gradient depends on where it comes from; NaN must not drown all others
    loss = sum((torch.nan_to_num(r.float()).square().sum() for r in differentiable), torch.zeros(()))
    gradients = [torch.zeros_like(x) for x in leaves]
    if differentiable and leaves:
        gradients = list(torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True))
    return [r.detach() if isinstance(r, Tensor) else r for r in results], gradients


def _expect_same(yours: Sequence[Any], wanted: Sequence[Any], what: str) -> None:
    if len(yours) != len(wanted):
        expect_equal(len(yours), len(wanted), f"the number of results of {what}")
    for mine, right in zip(yours, wanted, strict=True):
        if isinstance(right, Tensor):
            expect_close(mine, right, what)
        else:
            expect_equal(mine, right, what)


def _headline(error: Exception) -> str:
    text = str(getattr(error, "msg", "") or error).strip()
    return text.splitlines()[0][:160] if text else type(error).__name__


def _place(error: Exception) -> dict[str, str]:
    """The innermost line that is not torch's."""
    stack: Sequence[FrameSummary] = getattr(error, "real_stack", None) or ()
    mine = [frame for frame in stack if not frame.filename.startswith(_TORCH)]
    if not mine:
        return {}
    return {"at": f"{paths.shown(Path(mine[-1].filename))}:{mine[-1].lineno}   {mine[-1].line}"}


def _counted(graphs: int) -> str:
    return "1 graph" if graphs == 1 else f"{graphs} graphs"
