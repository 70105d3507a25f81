"""The worked example of resumable_loader."""

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    loader, states, batches = answer.ResumableLoader(range(10), batch_size=4, seed=1), [], []
    for batch in loader:
        batches.append(batch.tolist())
        states.append(loader.state_dict())
    expect_equal(batches, [[5, 6, 1, 2], [0, 8, 9, 3], [7, 4]], "the batches of epoch 0")

    again = answer.ResumableLoader(range(10), batch_size=4, seed=1)
    again.load_state_dict(states[0])
    call = "the batches after the state of the first batch was loaded"
    expect_equal([batch.tolist() for batch in again], batches[1:], call)
    epoch = [[8, 7, 1, 5], [6, 9, 0, 4], [2, 3]]
    expect_equal([batch.tolist() for batch in again], epoch, "the batches of the loop after that")
