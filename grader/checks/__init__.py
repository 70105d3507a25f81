"""What suites assert with. Every check raises `CheckFailure` with the feedback as its message."""

from grader.checks.cost.memory import (
    expect_copy,
    expect_view,
    held_bytes,
    marked,
    peak_bytes,
    saved_bytes,
    shares_storage,
)
from grader.checks.cost.operations import count_operations, expect_flat_cost, forbid, forbid_files
from grader.checks.cost.steps import count_steps
from grader.checks.failure import CheckFailure
from grader.checks.gradients import expect_gradient, expect_gradients
from grader.checks.numbers import expect_number
from grader.checks.raises import expect_raises
from grader.checks.side_effects import global_rng_untouched, hooks_of, hooks_of_all, modes_kept, unchanged
from grader.checks.values import expect_close, expect_equal, expect_that

__all__ = [
    "CheckFailure",
    "count_operations",
    "count_steps",
    "expect_close",
    "expect_copy",
    "expect_equal",
    "expect_flat_cost",
    "expect_gradient",
    "expect_gradients",
    "expect_number",
    "expect_raises",
    "expect_that",
    "expect_view",
    "forbid",
    "forbid_files",
    "global_rng_untouched",
    "held_bytes",
    "hooks_of",
    "hooks_of_all",
    "marked",
    "modes_kept",
    "peak_bytes",
    "saved_bytes",
    "shares_storage",
    "unchanged",
]
