"""The worked example of read_the_log."""

from grader.checks import expect_equal

BREAK = "V1130 18:20:53.560000 338 torch/_dynamo/symbolic_convert.py:5124] [0/0] [__graph_breaks] "
AGAIN = "V1130 18:20:53.889000 338 torch/_dynamo/guards.py:5396] [0/1] [__recompiles] "
LOG = f"""epoch 1
{BREAK}Graph break in user code at /ada/train.py:12
{BREAK}Graph Break Reason: Data-dependent branching
{BREAK}  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).
{BREAK}  Hint: Use `torch.cond` to express dynamic control flow.
{BREAK}
{BREAK}User code traceback:
{BREAK}  File "/ada/train.py", line 31, in <module>
{BREAK}    model(batch)
{BREAK}  File "/ada/train.py", line 12, in forward
{BREAK}    if x.norm() > limit:
{BREAK}
{AGAIN}Recompiling function forward in /ada/train.py:10
{AGAIN}    triggered by the following guard failure(s):
{AGAIN}    - 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5
"""


def test_graph_breaks_worked_example(answer):
    """The break of the statement is found."""
    wanted = [answer.Break("/ada/train.py", 12, "Data-dependent branching", 1)]
    mistakes = {
        "the line is that of the caller": ("/ada/train.py", 31, "Data-dependent branching", 1),
        "the line is a text: an int is asked for": ("/ada/train.py", "12", "Data-dependent branching", 1),
        "`Graph Break Reason:` is no part of the reason": (
            *("/ada/train.py", 12),
            *("Graph Break Reason: Data-dependent branching", 1),
        ),
    }
    suspects = {told: lambda made=made: [answer.Break(*made)] for told, made in mistakes.items()}
    expect_equal(answer.graph_breaks(LOG), wanted, "graph_breaks(log)", suspects=suspects)


def test_recompiles_worked_example(answer):
    """The recompilation of the statement is found."""
    guard = "tensor 'x' size mismatch at index 0. expected 4, actual 5"
    numbered = {
        "the number of the graph is no part of the guard": lambda: [
            answer.Recompile("forward", f"0/0: {guard}")
        ]
    }
    wanted = [answer.Recompile("forward", guard)]
    expect_equal(answer.recompiles(LOG), wanted, "recompiles(log)", suspects=numbered)
