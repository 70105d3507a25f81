"""What a file says: its title, the job, the fine print, the code that it starts from, and code alone."""

import ast
import re
from dataclasses import dataclass

FINE = "Fine print:"
"""The line between the job and what goes beyond it."""


@dataclass(frozen=True)
class Statement:
    """The parts of a file; `fine` is None without a line for it, `code` is what stands below imports."""

    title: str
    job: str
    fine: str | None
    code: str

    @classmethod
    def of(cls, source: str) -> "Statement":
        """All is code where it cannot be parsed."""
        try:
            module = ast.parse(source)
        except (SyntaxError, ValueError):
            return cls("", "", None, source)
        text = ast.get_docstring(module) or ""
        title, _, body = text.partition("\n\n")
        job, line, fine = f"\n{body}\n".partition(f"\n{FINE}\n")
        code = _written(module, source)
        return cls(" ".join(title.split()), job.strip("\n"), fine.strip("\n") if line else None, code)


def _written(module: ast.Module, source: str) -> str:
    """What stands below the docstring and the imports."""
    rest = module.body[1:] if ast.get_docstring(module) else module.body
    first = next((node for node in rest if not isinstance(node, (ast.Import, ast.ImportFrom))), None)
    if first is None:
        return ""
    line = min(node.lineno for node in (first, *getattr(first, "decorator_list", ())))
    return "\n".join(source.splitlines()[line - 1 :]).rstrip()


def code_alone(source: str) -> str:
    """The code without what is said about it in docstrings; all of it where it cannot be parsed."""
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError):
        return source
    lines = source.splitlines()
    for node in nodes:
        told = getattr(node, "body", None)
        for part in told if isinstance(told, list) else ():
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                is_all = len(told) == 1 and not isinstance(node, ast.Module)  # type: ignore[arg-type]
                if isinstance(part.value.value, str) and not is_all:
                    # As many lines as before: the other parts are found by their numbers.
                    last = part.end_lineno or part.lineno
                    lines[part.lineno - 1 : last] = [""] * (last - part.lineno + 1)
    text = "\n".join(line.rstrip() for line in lines)
    text = re.sub(r"(:|\))\n\n+(?=[ \t])", r"\1\n", text)  # a body begins below its head
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n")
