"""Answers to matrix_products."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
FIRST, SECOND, THIRD = (
    f'Float[Tensor, "{shape}"]:\n    return baskets @ prices'
    for shape in (" people", "people shops", "weeks people shops")
)


def made(part, new):
    return (part, part.replace("baskets @ prices", new))


SPECIMENS = [
    Wrong(
        "number by number",
        edits=[made(FIRST, "baskets * prices")],
        rung="job",
        check="test_vector_worked_example",
        says="number by number",
    ),
    Wrong(
        "number by number with matrices",
        edits=[made(SECOND, "baskets * prices")],
        rung="job",
        check="test_matrix_values",
        says="number by number",
    ),
    Wrong(
        "prices first",
        edits=[made(SECOND, "prices @ baskets")],
        rung="job",
        check="test_matrix_worked_example",
        says="prices come first",
    ),
    Wrong(
        "bmm of a batch and a matrix",
        edits=[made(THIRD, "torch.bmm(baskets, prices)"), TORCH],
        rung="job",
        check="test_batch_values",
        says="wants a batch on both sides",
    ),
    Right(
        "functions with names",
        edits=[
            made(FIRST, "torch.mv(baskets, prices)"),
            made(SECOND, "torch.mm(baskets, prices)"),
            made(THIRD, "torch.matmul(baskets, prices)"),
            TORCH,
        ],
    ),
    Right(
        "sums, and a loop",
        edits=[
            made(FIRST, "(baskets * prices).sum(dim=1)"),
            made(THIRD, "torch.stack([week @ prices for week in baskets])"),
            TORCH,
        ],
    ),
]
