"""What beginners write that is no Python, and what they are told; also in the words of other versions."""

import pytest

from grader.diagnose.idioms import cause_of_syntax

FUNCTION = "def f(x, y):\n"
SLIPS = {
    "    if x > 0\n        return x": "a `:` is missing at the end: `if x > 0:`",
    "    for i in range(3)   # thrice\n        x += i": "a `:` is missing at the end: `for i in range(3):`",
    "    if x > 0:\n        y = 1\n    else\n        y = 2": "a `:` is missing at the end: `else:`",
    "    if x = 0:\n        return x": "what compares is `==`: `if x == 0:`",
    "    while x.ndim = 2:\n        pass": "what compares is `==`: `while x.ndim == 2:`",
    "    return x = y": "what compares is `==`: `return x == y`",
    "    if x =< y:\n        pass": "`=<` is no operator: `<=`",
    "    y = torch.tensor([1, 2]\n    return y": "the `(` of this line is never closed: its `)` is missing",
    "    def merge(x:\n        pass": "the `(` of this line is never closed",
    "    y = (x + 1]\n    return y": "`]` stands where the `(` that was opened last is to be closed",
    "    return x.sum())": "`)` closes nothing",
    "    if x:\n    return x": "what belongs to the 'if' statement of line 2 stands below it, indented",
    "    y = x\n        return y": "this line is indented further than the one above it",
    "    y = x\n  return y": "this line is indented like none of those above",
    "    if x:\n\treturn x\n        y = x": "tabs and spaces are mixed",
    "    if x:\n        y = 1\n    else if y:\n        y = 2": "`else if` is one word in Python: `elif`",
    "    if x:\n        y = 1\n    elseif y:\n        y = 2": "`else if` is one word in Python: `elif`",
    "    >>> x.sum()": "`>>>` is the prompt of a shell",
    "    !pip install torch": "`!` begins a command of a notebook or a shell",
    "    return x[“a”]": "`“` is no quote for Python",
    "    return x − y": "`−` is no operator for Python",
    "    return x +\u00a0y": "a space that is none",
    "    return x && y": "`&&` is no Python: `and` and `or`, and for tensors `&` and `|`",
    "    if !x:\n        pass": "`!` is no Python: `not`",
    "    x++": "Python has no `++`: `x += 1`",
    "    if x {\n        return x": "a block has no `{` in Python",
    "    def g x:\n        pass": "what a function takes stands in brackets",
    "    y =\n    return y": "behind `=` nothing stands",
    "    return 2x": "`2x`: between a number and a name stands a `*`",
    "    lambda = 0.1": "`lambda` is a word of Python's own",
    "    def g(x, lambda):\n        pass": "`lambda` is a word of Python's own",
    "    y = 1\n    else:\n        y = 2": "this `else` has no `if` above it that begins in the same column",
    "    return x.reshape(-1 2)": "a `,` is missing, or an operator",
    "    return 'x": "the quote that begins a text is missing at its end",
    "    return \"\"\"x": "the three quotes that begin a text here are missing at its end",
    "    y = x\nreturn y": "this `return` stands outside of the function",
    "    return x.sum(dim=1, 0)": "arguments by name come last",
    "    return 1 if x": "a value with an `if` in it needs an `else` as well",
    "    x.sum() = y": "left of `=` stands what gets the value",
}  # fmt: skip


def raised(source):
    with pytest.raises(SyntaxError) as found:
        compile(source, "answer.py", "exec")
    return found.value


@pytest.mark.parametrize("body", SLIPS)
def test_a_line_that_is_no_python_is_told_in_plain_words(body):
    assert SLIPS[body] in cause_of_syntax(raised(FUNCTION + body + "\n"))


@pytest.mark.parametrize(
    "message, line, told",
    [
        ("invalid syntax", "    class A", "a `:` is missing at the end: `class A:`"),  # 3.10
        ("expected ':'", "    if x > 0 return x", "a `:` is missing"),
        ("invalid syntax", "    def g x:", "what a function takes stands in brackets"),  # 3.10, 3.11
        ("expected '('", "    def g x:", "what a function takes stands in brackets"),  # 3.12 on
        ("invalid syntax", "    else if y:", "`elif`"),  # 3.10 to 3.13 say expected ':'
        ("invalid character '“' (U+201C)", "    print(“a”)", "is no quote"),
        ("invalid syntax. Maybe you meant '==' or ':=' instead of '='?", "    if x = 1:", "`if x == 1:`"),
        (
            "unterminated f-string literal (detected at line 2)",
            "    f'{x}",
            "the quote that begins",
        ),  # 3.12 on
        ("'[' was never closed", "    y = [x", "its `]` is missing"),
    ],
)
def test_other_versions_words_are_understood(message, line, told):
    assert told in cause_of_syntax(SyntaxError(message, ("answer.py", 2, 1, line)))


@pytest.mark.parametrize("line", ["    x = = 3 3", "", "    from torch"])
def test_what_nothing_explains_has_no_cause(line):
    assert cause_of_syntax(SyntaxError("invalid syntax", ("answer.py", 2, 1, line))) == ""
    assert cause_of_syntax(SyntaxError("invalid syntax")) == ""
