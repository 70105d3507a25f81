"""What may go wrong, as one line for the person at the keyboard."""


class KataError(Exception):
    """A mistake in the input, told in one line: what, why, what to do.

    The command line prints the message and exits with status 2; no traceback is shown.
    """

    def _render_traceback_(self) -> list[str]:
        """What notebooks show instead of a traceback."""
        return [f"kata: {self}"]
