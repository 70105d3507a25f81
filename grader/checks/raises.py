"""Bad input gets the error that the statement names."""

from collections.abc import Callable

from grader.checks.failure import CheckFailure
from grader.core.sanitize import message_of
from grader.diagnose.describe import describe


def expect_raises(
    error: type[Exception] | tuple[type[Exception], ...],
    fn: Callable[[], object],
    call: str,
    *,
    words: str = "",
) -> None:
    """Fail unless `fn()` raises `error`, with each of `words` in its message (in any case).

    An error of another type is told with what it said. A stub's NotImplementedError passes through,
    so that it still counts as todo.

    Example:
        def test_odd_number(answer):
            expect_raises(ValueError, lambda: answer.halves(3), "halves(3)", words="3 even")
    """
    kinds = error if isinstance(error, tuple) else (error,)
    wanted = " or ".join(kind.__name__ for kind in kinds)
    try:
        result = fn()
    except kinds as raised:
        if type(raised) is NotImplementedError and NotImplementedError not in kinds:  # it is a RuntimeError
            raise
        missing = [word for word in words.split() if word.lower() not in message_of(raised).lower()]
        if missing:
            raise CheckFailure(
                f"the {type(raised).__name__} from {call} does not say enough",
                yours=message_of(raised),
                wanted=f"a message that names {', '.join(missing)}",
            ) from None
        return
    except NotImplementedError:
        raise
    except Exception as raised:
        raise CheckFailure(
            f"wrong error from {call}",
            yours=f"{type(raised).__name__}: {message_of(raised)[:200]}",
            wanted=wanted,
        ) from None
    raise CheckFailure(f"no error from {call}", yours=f"returned {describe(result)}", wanted=wanted)
