"""Answers to two_loaders."""

from grader.authoring.specimen import Right, Wrong

TRAIN, TEST = "batch_size=batch_size, shuffle=True, drop_last=True", "DataLoader(test, batch_size=batch_size)"

SPECIMENS = [
    Wrong(
        "no shuffle",
        edits=[("shuffle=True, ", "")],
        rung="job",
        check="test_shuffled",
        says="does not shuffle",
    ),
    Wrong("a short last batch", edits=[(", drop_last=True", "")], rung="job", check="test_batches_to_train"),
    Wrong(
        "the test is shuffled",
        edits=[(TEST, "DataLoader(test, batch_size=batch_size, shuffle=True)")],
        rung="job",
        check="test_test_loader",
    ),
    Wrong(
        "the test drops rows",
        edits=[(TEST, "DataLoader(test, batch_size=batch_size, drop_last=True)")],
        rung="job",
        check="test_test_loader",
        says="drops the rows of the last batch",
    ),
    Wrong(
        "the wrong way round",
        edits=[("return to_train, to_test", "return to_test, to_train")],
        rung="job",
        check="test_batches_to_train",
    ),
    Wrong(
        "one order for all times",
        edits=[("drop_last=True)", "drop_last=True)\n    to_train = list(to_train)")],
        rung="job",
        check="test_shuffled",
        says="same order each time",
    ),
    Right(
        "a sampler",
        edits=[
            ("shuffle=True,", "sampler=RandomSampler(train),"),
            ("DataLoader, Dataset", "DataLoader, Dataset, RandomSampler"),
        ],
    ),
    Right(
        "all written out",
        edits=[(TEST, "DataLoader(test, batch_size, shuffle=False, num_workers=0, drop_last=False)")],
    ),
]
