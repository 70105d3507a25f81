"""Answers to embedding_lookup that people write."""

from grader.authoring.specimen import Right, Wrong

LOOKUP = """    rows = weight[flat]  # (n, dim), a copy
    return rows.reshape(*ids.shape, dim)
"""
CHECKS = """    vocab, dim = weight.shape
    flat = ids.reshape(-1).long()  # (n,); as int64 a uint8 index is no mask
    if len(flat) and (flat.min() < 0 or flat.max() >= vocab):
"""


def instead(lookup):
    return [(LOOKUP, lookup)]


SPECIMENS = [
    Wrong(
        "finite numbers for infinite ones, to be safe",
        edits=instead("    return torch.nan_to_num(weight[flat]).reshape(*ids.shape, dim)\n"),
        check="test_other_rows_have_no_influence",
        says="inf",
    ),
    Wrong(
        "plain indexing: uint8 is a mask, int16 an error, and negative ids count from the end",
        code="""
def embedding_lookup(weight, ids):
    return weight[ids]
""",
        check="test_integer_dtypes",
    ),
    Wrong(
        "leaves the dtype of ids to the indexing",
        edits=[(".reshape(-1).long()", ".reshape(-1)"), (LOOKUP, "    return weight[ids].clone()\n")],
        check="test_integer_dtypes",
    ),
    Wrong(
        "no check for negative ids",
        edits=[("flat.min() < 0 or flat.max() >= vocab", "flat.max() >= vocab")],
        check="test_bad_ids",
        says="no error",
    ),
    Wrong(
        "clamps ids that are out of range",
        edits=[
            ("    flat = ids.reshape(-1).long()", "    flat = ids.reshape(-1).long().clamp(0, vocab - 1)")
        ],
        check="test_bad_ids",
        says="no error",
    ),
    Wrong(
        "lets floats through, truncated",
        edits=[("if ids.is_floating_point() or ids.dtype == torch.bool", "if ids.dtype == torch.bool")],
        check="test_bad_ids",
        says="no error",
    ),
    Wrong(
        "takes booleans for 0 and 1",
        edits=[("if ids.is_floating_point() or ids.dtype == torch.bool", "if ids.is_floating_point()")],
        check="test_bad_ids",
        says="no error",
    ),
    Wrong(
        "returns for want of ids before their dtype is looked at",
        edits=[
            (
                "    if ids.is_floating_point()",
                "    if ids.numel() == 0:\n        return weight.new_zeros(*ids.shape, weight.shape[1])\n"
                "    if ids.is_floating_point()",
            )
        ],
        check="test_bad_ids",
        says="no error",
    ),
    Wrong(
        "int32 ids, which 2**32 becomes a 0 in",
        edits=[(".reshape(-1).long()", ".reshape(-1).int()")],
        check="test_bad_ids",
        says="no error",
    ),
    Wrong(
        "a ValueError for ids out of range",
        edits=[("raise IndexError", "raise ValueError")],
        check="test_bad_ids",
        says="ValueError",
    ),
    Wrong(
        "looks for the smallest of no ids",
        edits=[
            (
                "if len(flat) and (flat.min() < 0 or flat.max() >= vocab)",
                "if flat.min() < 0 or flat.max() >= vocab",
            )
        ],
        check="test_any_shape",
    ),
    Wrong(
        "only for ids of two dimensions",
        edits=[("reshape(*ids.shape, dim)", "reshape(ids.shape[0], ids.shape[1], dim)")],
        check="test_any_shape",
    ),
    Wrong(
        "the result is flat",
        edits=instead("    return weight[flat]\n"),
        check="test_any_shape",
    ),
    Wrong(
        "indexes with a 0-d id: a view",
        edits=instead("    return weight[ids.long()]\n"),
        check="test_memory_of_its_own",
        says="view",
    ),
    Wrong(
        "compares in the dtype of the ids: 300 rows are 44 for uint8",
        edits=[("flat.max() >= vocab", "ids.max() >= vocab")],
        check="test_many_rows",
        says="modulo 256",
    ),
    Wrong(
        "narrows the ids to a byte",
        edits=[("rows = weight[flat]", "rows = weight[flat.to(torch.uint8).long()]")],
        check="test_many_rows",
        says="cut to 8 bits",
    ),
    Wrong(
        "one-hot matrix product",
        edits=instead("""
    one_hot = torch.nn.functional.one_hot(flat, vocab).to(weight.dtype)
    return (one_hot @ weight).reshape(*ids.shape, dim)
"""),
        check="test_other_rows_have_no_influence",
    ),
    Wrong(
        "a one-hot mask over the whole table, careful with inf",
        edits=instead("""
    hits = flat.unsqueeze(1) == torch.arange(vocab, device=weight.device)
    rows = weight.masked_fill(~hits.unsqueeze(-1), 0).sum(1, dtype=weight.dtype)
    return rows.reshape(*ids.shape, dim)
"""),
        check="test_memory_in_proportion_to_the_result",
        says="too much memory",
    ),
    Wrong(
        "bools as bytes",
        edits=[
            ("rows = weight[flat]", "rows = (weight.byte() if weight.dtype == torch.bool else weight)[flat]")
        ],
        check="test_dtype_of_weight",
        says="uint8",
    ),
    Wrong(
        "clones the table first",
        edits=instead("    return weight.clone()[flat].reshape(*ids.shape, dim)\n"),
        check="test_memory_in_proportion_to_the_result",
        says="too much memory",
    ),
    Wrong(
        "makes the table contiguous first",
        edits=[("rows = weight[flat]", "rows = weight.contiguous()[flat]")],
        check="test_memory_in_proportion_to_the_result",
        says="transposed",
    ),
    Wrong(
        "looks up in float32 and casts back",
        edits=[
            (
                "rows = weight[flat]",
                "rows = (weight if weight.dtype.itemsize > 2 else weight.float())[flat].to(weight.dtype)",
            )
        ],
        check="test_memory_in_proportion_to_the_result",
        says="bfloat16",
    ),
    Wrong(
        "a single id through `.data`, where there is no gradient",
        edits=[("rows = weight[flat]", "rows = (weight if ids.dim() else weight.data)[flat]")],
        check="test_gradient_accumulates",
        says="no gradient",
    ),
    Wrong(
        "a loop over sequences of ids",
        edits=[
            (
                "    rows = weight[flat]",
                "    if ids.dim() > 1 and len(ids):\n"
                "        return torch.stack([embedding_lookup(weight, part) for part in ids])\n"
                "    rows = weight[flat]",
            )
        ],
        check="test_no_loop",
        says="grows with ids",
    ),
    Wrong(
        "a loop over the ids",
        edits=instead("""
    rows = [weight[i] for i in flat.tolist()]
    return (torch.stack(rows) if rows else weight[:0]).reshape(*ids.shape, dim)
"""),
        check="test_no_loop",
        says="grows with ids",
    ),
    Wrong(
        "a loop over the table",
        edits=instead("""
    out = weight.new_zeros(len(flat), dim)
    for row in range(vocab):
        out = torch.where((flat == row).unsqueeze(1), weight[row], out)
    return out.reshape(*ids.shape, dim)
"""),
        check="test_no_loop",
        says="grows with rows",
    ),
    Wrong(
        "detaches the table",
        edits=[("rows = weight[flat]", "rows = weight.detach()[flat]")],
        check="test_gradient_accumulates",
        says="no gradient",
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
        check="test_gradient_accumulates",
    ),
    Wrong(
        "indexes with a single id as it is: in uint8 it is a mask",
        edits=[
            (
                CHECKS,
                "    if ids.dim() == 0 and 0 <= int(ids) < len(weight):\n        return weight[ids].clone()\n"
                + CHECKS,
            )
        ],
        check="test_integer_dtypes",
        says="torch.uint8 and shape ()",
    ),
    Wrong(
        "clones the row of a single int64 id: of another dtype, it is a view",
        edits=instead("""
    rows = weight[ids.long()]
    return rows.clone() if ids.dtype == torch.int64 else rows
"""),
        check="test_memory_of_its_own",
    ),
    Wrong(
        "clones the row of a single id only where nothing is trained",
        edits=instead("""
    if ids.dim() == 0 and weight.requires_grad:
        return weight[ids.long()]
    return weight[ids.long()].clone()
"""),
        check="test_memory_of_its_own",
        says="requires gradients",
    ),
    Wrong(
        "gathers from a table for each id, expanded: its gradient has all of them",
        edits=instead("""
    tables = weight.expand(len(flat), vocab, dim)
    return tables.gather(1, flat.view(-1, 1, 1).expand(-1, 1, dim)).reshape(*ids.shape, dim)
"""),
        check="test_memory_in_proportion_to_the_result",
        says="backward",
    ),
    Wrong(
        "a one-hot matrix in the backward",
        code="""
import torch

class Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, ids):
        ctx.save_for_backward(ids)
        ctx.vocab = len(weight)
        return weight.index_select(0, ids)

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        one_hot = torch.zeros(len(ids), ctx.vocab, dtype=grad.dtype).scatter_(1, ids[:, None], 1)
        return one_hot.T @ grad, None

def embedding_lookup(weight, ids):
    if ids.is_floating_point() or ids.dtype == torch.bool:
        raise TypeError("ids must be integers")
    flat = ids.reshape(-1).long()
    if len(flat) and (flat.min() < 0 or flat.max() >= len(weight)):
        raise IndexError("no such row")
    return Lookup.apply(weight, flat).reshape(*ids.shape, weight.shape[1])
""",
        check="test_memory_in_proportion_to_the_result",
        says="one-hot matrix",
    ),
    Wrong(
        "always float32",
        edits=[("rows = weight[flat]", "rows = weight.float()[flat]")],
        check="test_dtype_of_weight",
        says="float32",
    ),
    Wrong(
        "assumes a contiguous table",
        edits=instead("""
    places = flat.unsqueeze(1) * dim + torch.arange(dim, device=weight.device)
    return torch.as_strided(weight, (vocab * dim,), (1,))[places].reshape(*ids.shape, dim)
"""),
        check="test_strided_inputs",
        says="as if it were contiguous",
    ),
    Wrong(
        "fills a result on the CPU",
        edits=instead(
            "    return torch.zeros(len(flat), dim, dtype=weight.dtype).add(weight[flat]).reshape(*ids.shape, dim)\n"
        ),
        check="test_stays_on_the_device",
    ),
    Wrong(
        "the functional that is ruled out",
        edits=instead("    return torch.nn.functional.embedding(flat, weight).reshape(*ids.shape, dim)\n"),
        check="test_without_embedding",
        says="rules out",
    ),
    Right(
        "index_select", edits=instead("    return weight.index_select(0, flat).reshape(*ids.shape, dim)\n")
    ),
    Right(
        "gather along the rows",
        edits=instead(
            "    return weight.gather(0, flat.unsqueeze(1).expand(-1, dim)).view(*ids.shape, dim)\n"
        ),
    ),
    Right(
        "indexes with ids as they lie, and clones",
        edits=instead("    return weight[ids.long()].clone()\n"),
    ),
    Right(
        "asks any() for bad ids, and take_along_dim",
        code="""
import torch

def embedding_lookup(weight, ids):
    if ids.dtype not in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        raise TypeError("integers, please")
    ids = ids.to(torch.int64)
    if bool(((ids < 0) | (ids >= weight.size(0))).any()):
        raise IndexError("no such row")
    return torch.take_along_dim(weight, ids.reshape(-1, 1), dim=0).unflatten(0, ids.shape) if ids.dim() else weight[ids].clone()
""",
    ),
    Right(
        "a sparse gradient",
        edits=instead(
            "    places = flat.unsqueeze(1).expand(-1, dim)\n"
            "    return weight.gather(0, places, sparse_grad=True).view(*ids.shape, dim)\n"
        ),
    ),
    Wrong(
        "reads the bits of int8 ids as bytes",
        edits=[
            (
                "    flat = ids.reshape(-1).long()",
                "    if ids.dtype == torch.int8:\n        ids = ids.view(torch.uint8)\n    flat = ids.reshape(-1).long()",
            )
        ],
        check="test_bad_ids",
        says="300 rows",
    ),
    Wrong(
        "hands out the table where all rows are asked for in order",
        edits=instead(
            "    if torch.equal(flat, torch.arange(vocab, device=flat.device)):\n"
            "        return weight.view(*ids.shape, dim)\n" + LOOKUP
        ),
        check="test_memory_of_its_own",
        says="(7,)",
    ),
]
