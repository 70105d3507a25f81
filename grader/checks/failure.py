"""The one exception that a check raises when an answer is wrong."""


class CheckFailure(AssertionError):
    """An answer failed a check. The message is the feedback: facts first, at most one likely cause.

    It is shown to the learner as it stands, so it holds whole lines without a traceback.
    """
