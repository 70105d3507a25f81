"""Answers to repeatable_dice."""

from grader.authoring.specimen import Right, Wrong

SEED, THROW = "torch.Generator().manual_seed(seed)", "torch.randint(1, 7, (n,), generator=gen)"

SPECIMENS = [
    Wrong("no 6", edits=[("(1, 7,", "(1, 6,")], rung="job", check="test_dice", says="upper end"),
    Wrong("from 0", edits=[("(1, 7,", "(0, 7,")], rung="job", check="test_dice", says="begin at 0"),
    Wrong("no seed", edits=[(", generator=gen", "")], rung="job", check="test_dice", says="called again"),
    Wrong(
        "always one seed",
        edits=[("manual_seed(seed)", "manual_seed(0)")],
        rung="job",
        check="test_dice",
        says="is not used",
    ),
    Wrong(
        "a loaded die",
        edits=[(THROW, "(1 + 5 * torch.rand(n, generator=gen)).round().long()")],
        rung="job",
        check="test_dice",
        says="equally often",
    ),
    Right("the seed of all numbers", edits=[(SEED, "torch.manual_seed(seed)"), (", generator=gen", "")]),
    Right("from decimals", edits=[(THROW, "(6 * torch.rand(n, generator=gen)).long() + 1")]),
    Right(
        "one after the other",
        edits=[(THROW, "torch.tensor([int(torch.randint(6, (), generator=gen)) + 1 for _ in range(n)])")],
    ),
]
