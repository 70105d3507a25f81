"""What a process that runs somebody's answer may see and use; it knows neither torch nor pytest."""

from grader.sandbox.bubblewrap import ENVIRONMENT, WORK, command, unavailable
from grader.sandbox.confinement import Confinement, Ending, Sandbox, Unconfined, prepare
from grader.sandbox.pulse import Pulse
from grader.sandbox.rlimits import Limits

__all__ = [
    "ENVIRONMENT",
    "WORK",
    "Confinement",
    "Ending",
    "Limits",
    "Pulse",
    "Sandbox",
    "Unconfined",
    "command",
    "prepare",
    "unavailable",
]
