"""What grades read_the_log: places, reasons, times, guards; sources, resumed functions, output in between."""

import pytest
import torch

from grader.checks import expect_equal

BREAKS, AGAIN = "graph_breaks(log)", "recompiles(log)"
REASONS = {
    "Data-dependent branching": "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).",
    "Failed to trace builtin operator": "Dynamo does not know how to trace builtin operator `print`.",
    "Call to `torch._dynamo.graph_break()`": "User-inserted graph break. Message: None",
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": "Dynamo does not support it.",
}
BRANCH, PRINT, OWN, ITEM = REASONS
OUTER = "Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):"
WARNING = "W1130 18:20:53.845000 338 torch/_dynamo/variables/tensor.py:1759] [4/0] "
TOLD = f"{WARNING}Graph break from `Tensor.item()`, consider setting:\n"
TOLD += f"{WARNING}Graph break: from user code at:\n"


def lines(kind, *texts, between=""):
    prefix = f"V1130 18:20:53.560000 338 torch/_dynamo/symbolic_convert.py:5124] [0/0] [__{kind}] "
    return "".join(f"{prefix}{text}\n{between}" for text in texts)


def broken(file, number, reason, again=False, outer=False, **options):
    """The message of one break, as PyTorch 2.13 writes it; `again`, that of a place that was told before."""
    suppressed = "(user stack suppressed due to duplicate graph break) " * again
    head = [f"Graph break {suppressed}in user code at {file}:{number}"]
    head += [f"Graph Break Reason: {OUTER}", "", reason] if outer else [f"Graph Break Reason: {reason}"]
    body = [f"  Explanation: {REASONS[reason]}", "  Hint: Consider finding a workaround.", ""]
    stack = ["User code traceback:", f'  File "{file}", line {number + 40}, in <module>', "    model(batch)"]
    stack += [f'  File "{file}", line {number}, in forward', "    h = step(h)", ""]
    return lines("graph_breaks", *head, *body, *([] if again else stack), **options)


def recompiled(function, *guards, **options):
    graph = len(function) + 5
    told = [f"    - {graph}/{len(guards) - 1 - i}: {guard}" for i, guard in enumerate(guards)]
    where = f"Recompiling function {function} in /ada/train.py:10"
    return lines("recompiles", where, "    triggered by the following guard failure(s):", *told, **options)


def numbers(gen, count):
    """So many line numbers, all distinct."""
    return (20 + torch.randperm(9000, generator=gen)[:count]).tolist()


def size(gen, name="x"):
    expected, actual = numbers(gen, 2)
    return f"tensor '{name}' size mismatch at index 0. expected {expected}, actual {actual}"


def expect_breaks(answer, log, wanted, case, mistakes=None):
    """`mistakes` tells, for what else may come back, what has gone wrong."""
    suspects = {
        told: lambda made=made: [answer.Break(*row) for row in made]
        for told, made in (mistakes or {}).items()
    }
    made = [answer.Break(*row) for row in wanted]
    expect_equal(answer.graph_breaks(log), made, f"{BREAKS} with {case}", suspects=suspects)


def expect_recompiles(answer, log, wanted, case, mistakes=None):
    suspects = {
        told: lambda made=made: [answer.Recompile(*row) for row in made]
        for told, made in (mistakes or {}).items()
    }
    made = [answer.Recompile(*row) for row in wanted]
    expect_equal(answer.recompiles(log), made, f"{AGAIN} with {case}", suspects=suspects)


def test_places_and_reasons(answer, gen):
    """Each break has its file, its line and its reason, in the order of the log."""
    a, b, c = numbers(gen, 3)
    log = "step 1\n" + broken("/ada/train.py", a, PRINT, outer=True) + "norm\n"
    log += broken("/ada/net.py", b, BRANCH) + TOLD + broken("/ada/net.py", c, ITEM, outer=True)
    rows = [("/ada/train.py", a, PRINT, 1), ("/ada/net.py", b, BRANCH, 1), ("/ada/net.py", c, ITEM, 1)]
    mistakes = {
        "the line is that of the caller": [(f, n + 40, r, t) for f, n, r, t in rows],
        "the reason is the explanation: the line before it is asked for": [
            (f, n, REASONS[r], t) for f, n, r, t in rows
        ],
        "the reason is told some lines after `Graph Break Reason:`": [
            (f, n, r if r == BRANCH else OUTER, t) for f, n, r, t in rows
        ],
    }
    expect_breaks(answer, log, rows, "three breaks", mistakes)


def test_times(answer, gen):
    """A place that breaks again is listed once, and counted."""
    a, b = numbers(gen, 2)
    log = broken("/ada/net.py", max(a, b), BRANCH) + broken("/ada/net.py", min(a, b), PRINT, outer=True)
    log += broken("/ada/net.py", max(a, b), BRANCH, again=True) * 2
    first, second = ("/ada/net.py", max(a, b), BRANCH), ("/ada/net.py", min(a, b), PRINT)
    mistakes = {
        "breaks whose stack is suppressed are not counted": [(*first, 1), (*second, 1)],
        "places are sorted: the order is that of first breaks": [(*second, 1), (*first, 3)],
        "a place is listed more than once": [(*first, 1), (*second, 1), (*first, 1), (*first, 1)],
    }
    expect_breaks(answer, log, [(*first, 3), (*second, 1)], "a place that breaks three times", mistakes)


def test_recompilations(answer, gen):
    """Each recompilation is listed with its function and the first guard."""
    a, b, c = size(gen), size(gen, "mask"), "tensor 'x' dtype mismatch. expected Float, actual Double"
    log = recompiled("forward", a) + "norm\n" + recompiled("clip", b, c) + recompiled("forward", a)
    rows = [("forward", a), ("clip", b), ("forward", a)]
    mistakes = {
        "of several guards the first is asked for": [("forward", a), ("clip", c), ("forward", a)],
        "each guard has an entry: each recompilation has one": [*rows[:2], ("clip", c), rows[2]],
        "a recompilation that comes again is left out": rows[:2],
    }
    expect_recompiles(answer, log, rows, "three recompilations", mistakes)


def test_both_kinds(answer, gen):
    """Breaks and recompilations may alternate in one log."""
    a, b = numbers(gen, 2)
    guard, other = size(gen), size(gen, "mask")
    log = broken("/ada/net.py", a, BRANCH) + recompiled("forward", guard)
    log += broken("/ada/net.py", b, OWN) + recompiled("clip", other)
    places = [("/ada/net.py", a, BRANCH, 1), ("/ada/net.py", b, OWN, 1)]
    expect_breaks(answer, log, places, "two breaks and two recompilations")
    expect_recompiles(answer, log, [("forward", guard), ("clip", other)], "two breaks and two recompilations")


@pytest.mark.fine
def test_two_reasons(answer, gen):
    """Two reasons at one place are two entries."""
    (a,) = numbers(gen, 1)
    log = broken("/ada/net.py", a, ITEM) + broken("/ada/net.py", a, PRINT, outer=True)
    log += broken("/ada/net.py", a, ITEM, again=True)
    mistakes = {
        "the reasons at a place are counted as one": [("/ada/net.py", a, ITEM, 3)],
        "of the reasons at a place the last one is told": [("/ada/net.py", a, ITEM, 1)],
    }
    rows = [("/ada/net.py", a, ITEM, 2), ("/ada/net.py", a, PRINT, 1)]
    expect_breaks(answer, log, rows, "two reasons at one place", mistakes)


@pytest.mark.fine
def test_sources(answer, gen):
    """The source behind a guard is no part of it."""
    (a,) = numbers(gen, 1)
    guard, source = f"step == {a}", "# return x * step  # train.py:5 in scale"
    log = recompiled("scale", f"{guard:<60}{source}", "User stack trace:")
    mistakes = {"the source is no part of the guard": [("scale", f"{guard:<60}{source}")]}
    expect_recompiles(answer, log, [("scale", guard)], "a guard with its source", mistakes)


@pytest.mark.fine
def test_resumed_functions(answer, gen):
    """The rest of a function after a break has the name of the function."""
    a, b = numbers(gen, 2)
    names, guard = (
        (f"torch_dynamo_resume_in_forward_at_{a}", f"torch_dynamo_resume_in_look_at_x_at_{b}"),
        size(gen),
    )
    log = "".join(recompiled(name, guard) for name in names)
    mistakes = {
        "this is the compiler's name for the rest of a function": [(name, guard) for name in names],
        "the function's own name has `_at_` as well": [("forward", guard), ("look", guard)],
    }
    rows = [("forward", guard), ("look_at_x", guard)]
    expect_recompiles(answer, log, rows, "functions that go on after a break", mistakes)


@pytest.mark.fine
def test_paths(answer, gen):
    """Paths may contain spaces and colons."""
    a, b = numbers(gen, 2)
    rows = [("C:\\ada\\net.py", a, BRANCH, 1), ("/ada/my models/net.py", b, OWN, 1)]
    log = "".join(broken(*row[:3]) for row in rows)
    expect_breaks(answer, log, rows, "a colon and a space in paths")


@pytest.mark.fine
def test_output_within(answer, gen):
    """Output of the program comes between the lines of a message."""
    (a,) = numbers(gen, 1)
    guard = size(gen)
    log = broken("/ada/net.py", a, BRANCH, outer=True, between="loss 0.5\n")
    log += recompiled("forward", guard, between="loss 0.5\n")
    rows = [("/ada/net.py", a, BRANCH, 1)]
    mistakes = {"this is the program's output": [("/ada/net.py", a, "loss 0.5", 1)]}
    expect_breaks(answer, log, rows, "output within the message", mistakes)
    expect_recompiles(answer, log, [("forward", guard)], "output within the message")


@pytest.mark.fine
def test_nothing(answer):
    """Where nothing breaks the lists are empty."""
    for log, case in (("", "an empty log"), ("epoch 1\nloss 0.5\n" + TOLD, "the program's output alone")):
        expect_breaks(answer, log, [], case)
        expect_recompiles(answer, log, [], case)


def oracle(answer, gen):
    a, b, c, d, e = numbers(gen, 5)
    one, two, three = size(gen), size(gen, "mask"), size(gen, "h")
    first = broken("/ada/net.py", a, BRANCH) + broken(f"/ada/{b}.py", c, PRINT, outer=True)
    second = recompiled("forward", one, two) + recompiled("clip", three)
    long = broken("/ada/net.py", d, OWN, outer=True) + first + second
    long += broken("/ada/net.py", d, OWN, outer=True, again=True) + recompiled("clip", two)
    long += "".join(broken("/ada/net.py", n, BRANCH) for n in numbers(gen, 20))
    long += broken("/ada/net.py", e, BRANCH) * 2

    def told(log):
        places = [[x.file, x.line, x.reason, x.times] for x in answer.graph_breaks(log)]
        return {"breaks": places, "again": [[x.function, x.guard] for x in answer.recompiles(log)]}

    return {
        "two breaks": lambda: told(first),
        "two recompilations": lambda: told(second),
        "breaks and recompilations": lambda: told(long),
    }
