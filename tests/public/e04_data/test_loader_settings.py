"""The worked example of loader_settings."""

import torch

from grader.checks import expect_equal, expect_that


def test_test_loader(answer):
    """The test loader of the worked example gives all five examples in order, each time."""
    _, loader = answer.make_loaders(list(range(9)), list(range(5)), batch_size=4, seed=1)
    for time in ("first", "second"):
        batches = [torch.tensor([0, 1, 2, 3]), torch.tensor([4])]
        found = list(loader)
        lost = 5 - sum(map(len, found))
        expect_that(
            lost == 0,
            f"the test loader leaves {lost} of 5 examples out",
            likely="drop_last=True: every test example counts",
        )
        order = [int(i) for batch in found for i in batch]
        told = "the test loader gives the examples in another order than the dataset"
        expect_that(order == sorted(order), told, yours=order, likely="shuffle=True")
        expect_equal(found, batches, f"list(test_loader), for the {time} time")


def test_training_loader(answer):
    """The training loader of the worked example gives two batches of four, in another order each time."""
    loader, _ = answer.make_loaders(list(range(9)), list(range(5)), batch_size=4, seed=1)
    epochs = [[batch.tolist() for batch in loader] for _ in range(3)]
    for batches in epochs:
        sizes = [len(batch) for batch in batches]
        told = "the last training batch is shorter than the others"
        expect_that(sizes != [4, 4, 1], told, yours=sizes, wanted=[4, 4], likely="drop_last=True is missing")
        expect_equal(sizes, [4, 4], "the sizes of the training batches")
        distinct = {i for batch in batches for i in batch}
        again = "an example comes twice in an epoch: are they drawn with replacement?"
        expect_that(len(distinct) == 8, again, yours=batches)
    expect_that(epochs[0] != epochs[1] or epochs[1] != epochs[2], "the order is the same in each epoch")
