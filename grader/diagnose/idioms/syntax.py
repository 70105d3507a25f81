"""What is wrong with a line that is no Python, in plain words: read off the line first, then off the message.

Python words its messages otherwise from version to version; a line stays as it is.
"""

import ast
import keyword
import re
import textwrap
from collections.abc import Iterator

_HEADS = r"(?:if|elif|else|for|while|def|class|with|try|except|finally|async)"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_OPERATORS = {"=<": "<=", "=>": ">=", "=!": "!=", "<>": "!="}

_LINES: tuple[tuple[str, str], ...] = (
    (r"\s*(?:>>>|In ?\[\d*\]:)", "`{0}` is the prompt of a shell, and no part of the code: leave it out"),
    (r"\s*(?P<told>!|%|\$ )", "`{told}` begins a command of a notebook or a shell: it is no Python"),
    (r"\s*(?:else|els)\s*if\b", "`else if` is one word in Python: `elif`"),
    (r".*?(?P<told>&&|\|\|)", "`{told}` is no Python: `and` and `or`, and for tensors `&` and `|`"),
    (r".*?(?P<told>(?<![\w)\]])!(?!=)\w*)", "`!` is no Python: `not`, and for tensors `~`"),
    (r".*?(?P<told>\w+)(?:\+\+|--)\s*(?:#.*)?$", "Python has no `++`: `{told} += 1`, or `-= 1`"),
    (rf"\s*{_HEADS}\b.*\{{\s*(?:#.*)?$", "a block has no `{{` in Python: a `:`, and lines that are indented"),
    (r"\s*def \w+\b\s*(?:[^(\s]|$)", "what a function takes stands in brackets: `def name(x):`"),
    (r".*(?<![=!<>+*/:-])=\s*(?:#.*)?$", "behind `=` nothing stands: which value is it?"),
    (r".*?(?<![\w.])(?P<told>(?:[1-9]\d*|\d+\.\d+)(?!e[-+\d]|j\b|_\d|(?:or|and|if|in|is|else|for)\b)[a-zA-Z_]\w*)",
     "`{told}`: between a number and a name stands a `*`, and no name begins with a digit"),
)  # fmt: skip
"""What a line begins with, or holds, and what is wrong with it."""

_MESSAGES: tuple[tuple[str, str], ...] = (
    (r"invalid character '([“”„‘’´])'", "`{0}` is no quote for Python: write \" or ', the straight ones"),
    (r"invalid character '([−–—×·÷])'", "`{0}` is no operator for Python: use - * / of the keyboard"),
    (r"invalid non-printable character", "a space that is none: delete it, and type it again"),
    (r"inconsistent use of tabs", "tabs and spaces are mixed: indent by spaces alone, four a level"),
    (r"expected an indented block after (.+) on line (\d+)",
     "what belongs to the {0} of line {1} stands below it, indented by four more spaces"),
    (r"unexpected indent", "this line is indented further than the one above it, which opens no block"),
    (r"unindent does not match", "this line is indented like none of those above: count its spaces"),
    (r"'([(\[{])' was never closed", "the `{0}` of this line is never closed: its `{closing}` is missing"),
    (r"closing parenthesis '(.)' does not match opening parenthesis '(.)'",
     "`{0}` stands where the `{1}` that was opened last is to be closed"),
    (r"unmatched '(.)'", "`{0}` closes nothing: it is one too many, or its other half is missing"),
    (r"unterminated triple-quoted", "the three quotes that begin a text here are missing at its end"),
    (r"unterminated (?:f-)?string|EOL while scanning", "the quote that begins a text is missing at its end"),
    (r"'(return|yield|await)' outside (?:async )?function",
     "this `{0}` stands outside of the function: indent it as the lines of the function are"),
    (r"'(break|continue)' (?:outside|not properly in) loop", "this `{0}` is outside of a loop: indent it"),
    (r"positional argument follows keyword", "arguments by name come last: first those without `=`"),
    (r"expected 'else' after 'if' expression", "a value with an `if` in it needs an `else` as well"),
    (r"cannot contain assignment", "left of `=` in a call stands the plain name of an argument"),
    (r"cannot assign to", "left of `=` stands what gets the value: a name, `x[…]` or `self.x`"),
    (r"expected ':'", "a `:` is missing at the end of what opens a block"),
    (r"forgot a comma", "a `,` is missing, or an operator, between two things on this line"),
)  # fmt: skip
"""What Python says from 3.10 to 3.13, where the line alone does not tell."""


def cause_of_syntax(error: SyntaxError) -> str:
    """What is to be mended in the line that does not parse; "" where nothing says."""
    line = (error.text or "").rstrip("\n")
    return next(filter(None, _told(line, error.msg or "")), "")


def _told(line: str, message: str) -> Iterator[str]:
    is_told = re.search("indent|tabs|invalid (?:non-printable )?character|triple-quoted", message)
    if not is_told:
        for pattern, said in _LINES:
            if found := re.match(pattern, line):
                yield said.format(found[0].strip(), **found.groupdict())
        yield _comparison(line)
        yield _colon(line)
        yield _name(line)
        yield _alone(line)
    for pattern, said in _MESSAGES:
        if found := re.search(pattern, message):
            yield said.format(*found.groups(), closing=_BRACKETS.get((found.groups() or ("",))[0], ""))


def _comparison(line: str) -> str:
    """`=` where two things are compared, or an operator the wrong way round."""
    for wrong, right in _OPERATORS.items():
        if wrong in line and _parses(line.replace(wrong, right)):
            return f"`{wrong}` is no operator: `{right}`"
    told = re.match(r"\s*(?:(?:if|elif|while|assert)\b|return\b[^(]*$)", line)
    right = re.sub(r"(?<![=!<>:])=(?!=)", "==", line)
    if told and right != line and _parses(right):
        return f"`=` gives a name to a value; what compares is `==`: `{right.strip()}`"
    return ""


def _colon(line: str) -> str:
    """A line that opens a block, were there a colon."""
    code = line.split("#")[0].rstrip()
    if re.match(rf"\s*{_HEADS}\b", code) and not code.endswith(":") and _parses(f"{code}:"):
        return f"a `:` is missing at the end: `{code.strip()}:`"
    return ""


def _name(line: str) -> str:
    """A word of Python's own that is given a value."""
    for found in re.finditer(r"(?:^|[(,])\s*(?P<name>\w+)\s*(?==(?!=)|[,)].*:\s*$)", line):
        if keyword.iskeyword(found["name"]) and found["name"] not in ("None", "True", "False"):
            return f"`{found['name']}` is a word of Python's own and can be no name: choose another one"
    return ""


def _alone(line: str) -> str:
    """An `else` whose own line is right."""
    found = re.match(r"\s*(else|elif|except|finally)\b", line)
    if found and _parses(line):
        owner = "try" if found[1] in ("except", "finally") else "if"
        return f"this `{found[1]}` has no `{owner}` above it that begins in the same column"
    return ""


def _parses(line: str) -> bool:
    """Whether a line is Python in a function, with a block below it where it opens one."""
    code = textwrap.dedent(line).strip()
    before = "try:\n    pass\n" if code.startswith(("except", "finally")) else "if 1:\n    pass\n"
    block = "\n    pass" if code.split("#")[0].rstrip().endswith(":") else ""
    is_part = code.startswith(("else", "elif", "except", "finally"))
    source = f"{before if is_part else ''}{code}{block}"
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
