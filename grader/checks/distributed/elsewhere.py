"""Call a function of the suite in a process that has never seen the answer.

For artefacts that must work without the code that made them. The process is forked from one that
was there before the answer was imported, so it takes a tenth of a second rather than seconds. Mark
checks that use it `multi_process`: then it is there.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.checks import distributed
from grader.checks.failure import CheckFailure
from grader.core.sanitize import message_of

__all__ = ["elsewhere"]


def elsewhere(fn: Callable[..., Any], *args: Any, call: str) -> Any:
    """What `fn(*args)` returns in a process that has never seen the answer.

    Args:
        fn: a module-level function of the suite. It and its arguments and result are pickled:
            tensors and plain data.
        call: what it does, as feedback should tell it where it raises: ``"loading the file"``.

    Example:
        def load(path):
            return torch.load(path, weights_only=True)


        @pytest.mark.multi_process
        def test_file_needs_no_code(answer, tmp_path):
            answer.save(answer.Scale(3), tmp_path / "scale.pt")
            state = elsewhere(load, tmp_path / "scale.pt", call="torch.load of your file")
            expect_equal(list(state), ["weight"], "the names in your file")
    """
    with tempfile.TemporaryDirectory(prefix="kata-elsewhere-") as folder:
        nobody = ModuleType("nobody")  # ranks load the module under judgement: here there is none
        nobody.__file__ = str(Path(folder) / "nobody.py")
        Path(nobody.__file__).touch()
        trouble, result = distributed.run_ranks(1, _called, fn, args, answer=nobody, init=False)[0]
    if trouble:
        raise CheckFailure(f"{call} fails in a process that does not know your code", yours=trouble)
    return result


def _called(
    _rank: int, _world_size: int, _answer: ModuleType, fn: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[str, Any]:
    try:
        return "", fn(*args)
    except Exception as error:
        lines = message_of(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {lines[0][:200]}", None
