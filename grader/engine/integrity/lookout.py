"""One look at all by which an answer could bend how it is judged: known names, objects of ours, hooks."""

from collections.abc import Callable, Iterable, Sequence

from grader.engine.integrity import hooks
from grader.engine.integrity.kept import Kept
from grader.engine.integrity.spaces import Look

Changed = Callable[..., str | None]


def remember(looks: Sequence[Look], ours: Iterable[object], *, strict: bool) -> Changed:
    """What tells of the first that is not as it is now, or None; of `Kept` that it is given, too.

    A function: another object would be one more that an answer could find and change. Where it need not be
    `strict`, for a learner who may be debugging, hooks do not count.
    """
    before = hooks.now()
    broken = tuple(look.broken for look in looks)
    kept = tuple(Kept.of(each).broken for each in ours)
    known = tuple(Kept.of(look).broken for look in looks)

    def changed(*others: Kept) -> str | None:
        nonlocal known
        hook = hooks.cleared(before) if strict else None
        if hook is not None:
            return f"hooks into Python by {hook}"
        for look in (*kept, *known, *(other.broken for other in others), *broken):
            name = look()
            if name is not None:
                return f"replaces {name}"
        known = tuple(Kept.of(look).broken for look in looks)  # where names are added, they look elsewhere
        return None

    return changed
