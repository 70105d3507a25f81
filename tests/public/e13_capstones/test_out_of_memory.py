"""The run of out_of_memory, shortened."""

from grader.checks import expect_that, peak_bytes


def test_worked_example(answer):
    """A run stays within the memory that the README promises, however many steps it has, and learns."""
    losses, said = [], []
    few = peak_bytes(lambda: answer.train.train(steps=2, say=said.append))
    many = peak_bytes(lambda: losses.extend(map(float, answer.train.train(steps=5, say=said.append))))
    what = "the most memory at once in a run, with its model and data"
    expect_that(few <= 2_600_000, what, two_steps=f"{few / 1000:.0f} kB", wanted="at most 2600 kB")
    facts = {"two_steps": f"{few / 1000:.0f} kB", "five_steps": f"{many / 1000:.0f} kB"}
    expect_that(many <= few + 30_000, "more steps take more memory", **facts)
    expect_that(losses[-1] < losses[0], "in five steps the loss does not fall", losses=losses)
