"""Answers to my_own_parameter."""

from grader.authoring.specimen import Right, Wrong

MAKE = "nn.Parameter(torch.ones(features))"

SPECIMENS = [
    Wrong(
        "a plain tensor",
        edits=[(MAKE, "torch.ones(features)")],
        rung="job",
        check="test_learned",
        says="a plain tensor is not learned",
    ),
    Wrong(
        "a tensor with a gradient",
        edits=[(MAKE, "torch.ones(features, requires_grad=True)")],
        rung="job",
        check="test_learned",
        says="nn.Parameter",
    ),
    Wrong(
        "starts at random",
        edits=[(MAKE, "nn.Parameter(torch.randn(features))")],
        rung="job",
        check="test_starts_at_one",
    ),
    Wrong(
        "one factor for all",
        edits=[(MAKE, "nn.Parameter(torch.ones(1))")],
        rung="job",
        check="test_learned",
        says="shape",
    ),
    Wrong(
        "made anew in forward",
        edits=[("x * self.factor", "x * torch.ones(x.shape[1])")],
        rung="job",
        check="test_values",
        says="not used",
    ),
    Right("under another name", edits=[("self.factor = ", "self.f = "), ("x * self.factor", "self.f * x")]),
    Right(
        "column by column",
        edits=[
            (
                "x * self.factor",
                "torch.stack([x[:, i] * self.factor[i] for i in range(len(self.factor))], dim=1)",
            )
        ],
    ),
]
