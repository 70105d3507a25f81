"""Output that attacks its reader. What must hold is said in the test: nothing dangerous is shown."""

from tests.grader.hostile.answers import Hostile


def _saying(about: str, text: str) -> Hostile:
    return Hostile(
        f"says {about}",
        instead=f"def merge_heads(x):\n    raise ValueError({text!r})\n",
        statuses=("failed",),
    )


OUTPUT = [
    _saying("a script", "<script>alert(1)</script><img src=x onerror=alert(1)>"),
    _saying("terminal escapes", "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b31m"),
    _saying("a formula", "=cmd|' /C calc'!A0"),
    _saying("line ends and bells", "a\rb\x08\x08\x07\x00c"),
    _saying("text that runs backwards", "\u202egnp.exe\u2066"),
    _saying("a lone surrogate", "\ud800 alone"),
    _saying("a very long line", "x" * 100_000),
    _saying("very many lines", "x\n" * 100_000),
    Hostile(
        "an exception whose text raises",
        instead="class E(Exception):\n    def __str__(self): raise RuntimeError\n    __repr__ = __str__\ndef merge_heads(x):\n    raise E\n",
        statuses=("failed",),
    ),
    Hostile(
        "a type's name with markup",
        instead="C = type('[bold]<b>', (), {})\ndef merge_heads(x):\n    return C()\n",
        statuses=("failed",),
    ),
]
