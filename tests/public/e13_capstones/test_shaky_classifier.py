"""How shaky_classifier begins: two runs of one seed, and what they reach."""

from grader.checks import expect_equal, expect_that


def test_a_run_again(answer):
    """Two runs of one seed come out the same."""
    first, again = (answer.train.run(0, epochs=2, count=160)[0] for _ in range(2))
    expect_equal(again, first, "the second history of run(0, epochs=2, count=160)")


def test_accuracy(answer):
    """After 16 epochs the test accuracy is 0.85 or more, and training has gone steadily."""
    history, best, test = answer.train.run(0)
    scores = [round(score, 3) for _, score in history]
    expect_that(test >= 0.85, "the test accuracy of run(0) is low", yours=test, wanted="0.85 or more")
    expect_that(best.score == max(score for _, score in history), "the best is not the highest", yours=scores)
