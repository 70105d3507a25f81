"""Answers to numpy_there_and_back."""

from grader.authoring.specimen import Right, Wrong

DOUBLED = "2 * torch.from_numpy(array)"
CODE = f"doubled = {DOUBLED}\n    return doubled, doubled.numpy()"

SPECIMENS = [
    Wrong(
        "changed in place",
        edits=[(CODE, "x = torch.from_numpy(array)\n    x *= 2\n    return x, x.numpy()")],
        rung="job",
        check="test_arguments_are_left_alone",
        says="changes its input array",
    ),
    Wrong(
        "two tensors",
        edits=[("doubled.numpy()", "doubled")],
        rung="job",
        check="test_worked_example",
        says="`.numpy()` makes an array",
    ),
    Wrong(
        "two arrays",
        edits=[(CODE, "return 2 * array, 2 * array")],
        rung="job",
        check="test_worked_example",
        says="still an array",
    ),
    Wrong(
        "not doubled",
        edits=[(DOUBLED, "torch.from_numpy(array)")],
        rung="job",
        check="test_values",
        says="not doubled",
    ),
    Right("by a copy", edits=[(DOUBLED, "torch.tensor(array) * 2")]),
    Right(
        "added to itself", edits=[(CODE, "x = torch.as_tensor(array)\n    return x + x, np.asarray(x + x)")]
    ),
]
