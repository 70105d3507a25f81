"""Answers to einsum_letters."""

from grader.authoring.specimen import Right, Wrong

SWAP, PRODUCT, OUTER = '"ij->ji"', '"ij,jk->ik"', '"i,j->ij"'

SPECIMENS = [
    Wrong(
        "nothing added up",
        edits=[(PRODUCT, '"ij,jk->ijk"')],
        rung="job",
        check="test_product_values",
        says="nothing is added up",
    ),
    Wrong(
        "number by number",
        edits=[(PRODUCT, '"ij,ij->ij"')],
        rung="job",
        check="test_product_worked_example",
        says="number by number",
    ),
    Wrong(
        "the same order of letters",
        edits=[(SWAP, '"ij->ij"')],
        rung="job",
        check="test_swapped_worked_example",
        says="the same order as before",
    ),
    Wrong(
        "one letter for both",
        edits=[(OUTER, '"i,i->i"')],
        rung="job",
        check="test_outer_worked_example",
        says="one letter for both",
    ),
    Wrong(
        "v down the rows",
        edits=[(OUTER, '"i,j->ji"')],
        rung="job",
        check="test_outer_values",
        says="other way round",
    ),
    Right("other letters", edits=[(SWAP, '"ab->ba"'), (PRODUCT, '"rk, kc -> rc"'), (OUTER, '"a,b"')]),
    Right(
        "without einsum",
        edits=[
            (f"torch.einsum({SWAP}, x)", "x.T"),
            (f"torch.einsum({PRODUCT}, a, b)", "a @ b"),
            (f"torch.einsum({OUTER}, u, v)", "torch.outer(u, v)"),
        ],
    ),
]
