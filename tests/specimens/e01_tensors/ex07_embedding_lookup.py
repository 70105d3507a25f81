"""Answers to embedding_lookup that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LOOKUP = """    rows = weight[flat]  # (n, dim), a copy
    return rows.reshape(*ids.shape, dim)
"""


def instead(lookup):
    return [(LOOKUP, lookup)]


SPECIMENS = [
    Wrong(
        "columns, not rows",
        edits=instead("    return weight[:, ids.long()]\n"),
        check="test_values",
        says="columns of weight are taken",
        rung="job",
    ),
    Wrong(
        "the result is flat",
        edits=instead("    return weight[flat]\n"),
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "a loop over the ids",
        edits=instead("""
    rows = [weight[i] for i in flat.tolist()]
    return (torch.stack(rows) if rows else weight[:0]).reshape(*ids.shape, dim)
"""),
        check="test_no_loop",
        says="grows with ids",
        rung="job",
    ),
    Wrong(
        "detaches the table",
        edits=[("rows = weight[flat]", "rows = weight.detach()[flat]")],
        check="test_gradients",
        says="no gradient",
        rung="job",
    ),
    Wrong(
        "its own backward, where the last of equal ids wins",
        edits=instead("""
    class Lookup(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight):
            ctx.sizes = weight.shape
            return weight[flat]

        @staticmethod
        def backward(ctx, grad):
            out = grad.new_zeros(ctx.sizes)
            out[flat] = grad
            return out

    return Lookup.apply(weight).reshape(*ids.shape, dim)
"""),
        check="test_gradients",
        says="wrong values",
        rung="job",
    ),
    Wrong(
        "the functional that is ruled out",
        edits=instead("    return torch.nn.functional.embedding(flat, weight).reshape(*ids.shape, dim)\n"),
        check="test_own_computation",
        says="rules out",
        rung="job",
    ),
    Wrong(
        "looks for the smallest of no ids",
        edits=[
            (
                "if len(flat) and (flat.min() < 0 or flat.max() >= vocab)",
                "if flat.min() < 0 or flat.max() >= vocab",
            )
        ],
        check="test_empty",
    ),
    Wrong(
        "leaves the dtype of ids to the indexing",
        edits=[(".reshape(-1).long()", ".reshape(-1)"), (LOOKUP, "    return weight[ids].clone()\n")],
        check="test_integer_dtypes",
    ),
    Wrong(
        "compares in the dtype of the ids: for uint8, 300 rows are 44",
        edits=[("flat.max() >= vocab", "ids.max() >= vocab")],
        check="test_uint8_ids_of_many_rows",
        says="ids uint8",
    ),
    Wrong(
        "indexes with a 0-d id: a view",
        edits=instead("    return weight[ids.long()]\n"),
        check="test_memory_of_its_own",
        says="view",
    ),
    Wrong(
        "a one-hot matrix, which is as large as the table",
        edits=instead("""
    one_hot = torch.nn.functional.one_hot(flat, vocab).to(weight.dtype)
    return (one_hot @ weight).reshape(*ids.shape, dim)
"""),
        check="test_memory_in_proportion_to_the_result",
        says="too much memory",
    ),
    Wrong(
        "no check for negative ids",
        edits=[("flat.min() < 0 or flat.max() >= vocab", "flat.max() >= vocab")],
        check="test_negative_ids",
        says="no error",
    ),
    Wrong(
        "clamps ids that are too large",
        edits=[
            ("    flat = ids.reshape(-1).long()", "    flat = ids.reshape(-1).long().clamp(max=vocab - 1)")
        ],
        check="test_ids_that_are_too_large",
        says="no error",
    ),
    Wrong(
        "lets floats through, truncated",
        edits=[("if ids.is_floating_point() or ids.dtype == torch.bool", "if ids.dtype == torch.bool")],
        check="test_ids_of_another_kind",
        says="no error",
    ),
    Wrong(
        "fills a result on the CPU",
        edits=instead("""
    out = torch.zeros(len(flat), dim, dtype=weight.dtype)
    out[:] = weight[flat]
    return out.reshape(*ids.shape, dim)
"""),
        check="test_stays_on_the_device",
    ),
    Works(
        "plain indexing, and no more",
        code="""
def embedding_lookup(weight, ids):
    return weight[ids]
""",
    ),
    Works(
        "one-hot vectors times the table, as introductory texts explain it",
        code="""
import torch.nn.functional as F

def embedding_lookup(weight, ids):
    return F.one_hot(ids, num_classes=len(weight)).float() @ weight
""",
    ),
    Works(
        "index_select on flat ids, as torch's own embedding has it inside",
        code="""
import torch

def embedding_lookup(weight, ids):
    return torch.index_select(weight, 0, ids.flatten()).view(*ids.shape, -1)
""",
    ),
    Right(
        "gather along the rows",
        edits=instead(
            "    return weight.gather(0, flat.unsqueeze(1).expand(-1, dim)).view(*ids.shape, dim)\n"
        ),
    ),
    Right(
        "asks any() for bad ids, and clones",
        code="""
import torch

def embedding_lookup(weight, ids):
    if ids.dtype not in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        raise TypeError("integers, please")
    ids = ids.to(torch.int64)
    if bool(((ids < 0) | (ids >= weight.size(0))).any()):
        raise IndexError("no such row")
    return weight[ids].clone()
""",
    ),
]
