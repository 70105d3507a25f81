"""Why a cause that fits is not told, for whoever writes the check."""

from grader.protocol.feedback import Feedback

_AS_WELL = "fits as well as what is told: give the check numbers that tell them apart"
_BY_CHANCE = "would fit, but chance explains these numbers as well: give the check more of them, or others"


def untold(feedback: Feedback) -> list[str]:
    """A line for each cause that would give just this and is not told."""
    why = _AS_WELL if feedback.names_cause else _BY_CHANCE
    return [f"{cause!r} {why}" for cause in (*feedback.suspects, *feedback.fits)]
