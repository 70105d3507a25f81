"""What an exercise's file says: its title, the job, the fine print, and the code that it starts from."""

import ast
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
