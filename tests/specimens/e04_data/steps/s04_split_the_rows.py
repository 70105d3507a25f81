"""Answers to split_the_rows."""

from grader.authoring.specimen import Right, Wrong

G, SPLIT = "    g = torch.Generator().manual_seed(seed)\n", "random_split(dataset, [0.8, 0.2], generator=g)"
PERM = "torch.randperm(len(dataset), generator=g).tolist()"

SPECIMENS = [
    Wrong(
        "no generator",
        edits=[(", generator=g", "")],
        rung="job",
        check="test_drawn_by_the_seed",
        says="was not given a generator",
    ),
    Wrong(
        "another seed",
        edits=[("manual_seed(seed)", "manual_seed(0)")],
        rung="job",
        check="test_drawn_by_the_seed",
        says="another seed puts",
    ),
    Wrong(
        "the first rows",
        edits=[
            (SPLIT, "[[dataset[i] for i in part] for part in (range(n), range(n, len(dataset)))]"),
            (G, "    n = len(dataset) * 4 // 5\n"),
        ],
        rung="job",
        check="test_drawn_by_the_seed",
        says="last rows were put aside",
    ),
    Wrong("the wrong way round", edits=[("[0.8, 0.2]", "[0.2, 0.8]")], rung="job", check="test_sizes"),
    Wrong(
        "drawn twice",
        edits=[
            (
                SPLIT,
                "random_split(dataset, [0.8, 0.2], generator=g)[0], random_split(dataset, [0.8, 0.2], generator=g)[1]",
            )
        ],
        rung="job",
        check="test_every_row_once",
        says="in both parts",
    ),
    Right("with sizes", edits=[("[0.8, 0.2]", "[len(dataset) - len(dataset) // 5, len(dataset) // 5]")]),
    Right(
        "randperm and Subset",
        edits=[
            (SPLIT, "Subset(dataset, places[:n]), Subset(dataset, places[n:])"),
            (G, G + "    places, n = " + PERM + ", len(dataset) * 4 // 5\n"),
            ("Dataset, random_split", "Dataset, Subset"),
        ],
    ),
    Right("the global seed", edits=[(G, "    torch.manual_seed(seed)\n"), (", generator=g", "")]),
]
