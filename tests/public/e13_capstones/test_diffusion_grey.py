"""The run of diffusion_grey, shortened."""

from grader.checks import expect_that


def test_worked_example(answer):
    """After 400 steps, nearly all pictures show what was asked for, and are near one without grain."""
    said = []
    model = answer.train.train(steps=400, say=said.append)
    share, far = answer.train.examine(model, count=10, say=said.append)
    facts = {"said": said[2]}
    expect_that(
        share > 0.9,
        "painted pictures do not show the kind that was asked for",
        share=round(share, 2),
        **facts,
    )
    expect_that(far < 60, "painted pictures are far from any without grain", levels=round(far), **facts)
