"""Answers to remember_a_mean."""

from grader.authoring.specimen import Right, Wrong

MAKE = 'self.register_buffer("mean", mean)'

SPECIMENS = [
    Wrong(
        "a plain tensor",
        edits=[(MAKE, "self.mean = mean")],
        rung="job",
        check="test_saved",
        says="a plain tensor is forgotten",
    ),
    Wrong(
        "a parameter",
        edits=[(MAKE, "self.mean = nn.Parameter(mean)")],
        rung="job",
        check="test_not_learned",
        says="nn.Parameter is for what is learned",
    ),
    Wrong(
        "the mean of the batch",
        edits=[("x - self.mean", "x - x.mean(dim=0)")],
        rung="job",
        check="test_values",
        says="mean of x",
    ),
    Wrong(
        "the wrong sign", edits=[("x - self.mean", "x + self.mean")], rung="job", check="test_worked_example"
    ),
    Right(
        "a copy",
        edits=[(MAKE, 'self.register_buffer("mean", mean.clone().detach())')],
    ),
    Right(
        "a parameter that is frozen is none; a buffer by nn.Buffer is",
        edits=[(MAKE, "self.mean = nn.Buffer(mean)"), ("x - self.mean", "x + -1 * self.mean")],
    ),
    Right("row by row", edits=[("x - self.mean", "x.sub(self.mean.expand(len(x), -1))")]),
]
