"""Answers to seed_everything."""

from grader.authoring.specimen import Right, Wrong

NUMPY = "    np.random.seed(seed)\n"

SPECIMENS = [
    Wrong(
        "PyTorch alone",
        edits=[("    random.seed(seed)\n" + NUMPY, "")],
        rung="job",
        check="test_worked_example",
        says="Python is not seeded",
    ),
    Wrong(
        "NumPy is forgotten",
        edits=[(NUMPY, "")],
        rung="job",
        check="test_values",
        says="NumPy is not seeded",
    ),
    Wrong(
        "a stream of its own, which nobody draws from",
        edits=[("np.random.seed(seed)", "np.random.default_rng(seed)")],
        rung="job",
        check="test_values",
        says="NumPy is not seeded",
    ),
    Wrong(
        "a generator, which nobody draws from",
        edits=[("torch.manual_seed(seed)", "torch.Generator().manual_seed(seed)")],
        rung="job",
        check="test_values",
        says="PyTorch is not seeded",
    ),
    Wrong(
        "draws first",
        edits=[
            (
                "    random.seed(seed)\n" + NUMPY,
                "    numbers = random.random(), np.random.rand(), torch.rand(()).item()\n    random.seed(seed)\n"
                + NUMPY,
            ),
            ("return random.random(), np.random.rand(), torch.rand(()).item()", "return numbers"),
        ],
        rung="job",
        check="test_values",
    ),
    Right(
        "one library after the other",
        edits=[
            (
                "    random.seed(seed)\n"
                + NUMPY
                + "    torch.manual_seed(seed)\n    return random.random(), np.random.rand(), torch.rand(()).item()\n",
                """    random.seed(seed)
    first = random.random()
    np.random.seed(seed)
    second = np.random.random()
    torch.random.manual_seed(seed)
    return first, second, float(torch.rand(1))
""",
            )
        ],
    ),
    Right(
        "generators of its own",
        edits=[
            ("torch.rand(()).item()", "torch.rand((), generator=torch.Generator().manual_seed(seed)).item()")
        ],
    ),
]
