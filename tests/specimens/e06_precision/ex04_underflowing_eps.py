"""Answers to underflowing_eps that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WIDE = "    wide = weights if weights.dtype == torch.float64 else weights.float()\n"
TOTAL = "    total = wide.sum(-1, keepdim=True)  # (*rows, 1)\n"
EMPTY = "    empty = total == 0\n"
SHARES = (
    "    shares = wide / total.masked_fill(empty, 1.0)  # (*rows, experts), only rows of zeros are guarded\n"
)
RETURN = "    return shares.masked_fill(empty, 0.0).to(weights.dtype)  # which cuts their gradient to zero as well\n"
BODY = WIDE + TOTAL + EMPTY + SHARES + RETURN


def instead(body):
    return [(BODY, "".join(f"    {line}\n" for line in body.strip("\n").split("\n")))]


SPECIMENS = [
    Wrong(
        "an eps by the dtype",
        edits=instead("return weights / (weights.sum(-1, keepdim=True) + torch.finfo(weights.dtype).eps)"),
        check="test_no_eps_is_felt",
        says="small rows feel the guard",
        rung="job",
    ),
    Wrong(
        "the smallest normal number for eps",
        edits=instead("return weights / (weights.sum(-1, keepdim=True) + torch.finfo(weights.dtype).tiny)"),
        check="test_no_eps_is_felt",
        says="small rows feel the guard",
        rung="job",
    ),
    Wrong(
        "weights of zero without a gradient, as F.normalize has it",
        edits=[(TOTAL, "    total = wide.abs().sum(-1, keepdim=True)\n")],
        check="test_gradient_of_a_zero",
    ),
    Wrong(
        "everything in float32, float64 too",
        edits=[(WIDE, "    wide = weights.float()\n")],
        check="test_float64",
        says="computed in float32",
    ),
    Wrong(
        "float32, and the eps as it was",
        edits=instead(
            "wide = weights.float()\nreturn (wide / (wide.sum(-1, keepdim=True) + 1e-8)).to(weights.dtype)"
        ),
        check="test_no_eps_is_felt",
        says="small rows feel the guard",
        rung="job",
    ),
    Wrong(
        "small rows count as zeros",
        edits=[(EMPTY, "    empty = torch.isclose(total, torch.zeros_like(total))\n")],
        check="test_no_eps_is_felt",
        says="small rows feel the guard",
        rung="job",
    ),
    Wrong(
        "no guard",
        edits=[(SHARES + RETURN, "    return (wide / total).to(weights.dtype)\n")],
        check="test_rows_of_zeros",
        says="0 / 0",
        rung="job",
    ),
    Wrong(
        "float32 comes back",
        edits=[(RETURN, "    return shares.masked_fill(empty, 0.0)\n")],
        check="test_rows_of_zeros",
        says="dtype",
        rung="job",
    ),
    Wrong(
        "the sum without a gradient",
        edits=[(EMPTY, "    total = total.detach()\n" + EMPTY)],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "zeros where any expert has none",
        edits=[(EMPTY, "    empty = (wide == 0).any(-1, keepdim=True)\n")],
        check="test_rows_of_zeros",
        rung="job",
    ),
    Wrong(
        "over dim 1",
        edits=[(TOTAL, "    total = wide.sum(1 if wide.ndim > 1 else 0, keepdim=True)\n")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "where after the division: the gradient is NaN",
        edits=[(SHARES + RETURN, "    return torch.where(empty, 0.0, wide / total).to(weights.dtype)\n")],
        check="test_gradient_of_zeros",
        says="0 / 0",
    ),
    Wrong(
        "a sum in 16 bits",
        edits=[(TOTAL, "    total = weights.sum(-1, keepdim=True).to(wide.dtype)\n")],
        check="test_overflow",
    ),
    Wrong(
        "a product with the inverse in 16 bits",
        edits=[
            (SHARES, "    shares = weights * total.masked_fill(empty, 1.0).reciprocal().to(weights.dtype)\n")
        ],
        check="test_half_precision",
    ),
    Wrong(
        "a clamp at the smallest normal number of the dtype",
        edits=[(SHARES, "    shares = wide / total.clamp(min=torch.finfo(weights.dtype).tiny)\n")],
        check="test_subnormals",
    ),
    Wrong(
        "zeros for every row that is not a number",
        edits=[(EMPTY, "    empty = ~(total > 0)\n")],
        check="test_nan",
    ),
    Wrong(
        "asks for the largest of no experts",
        edits=[(EMPTY, "    empty = wide.amax(-1, keepdim=True) == 0\n")],
        check="test_empty",
    ),
    Wrong(
        "sets the rows of zeros to one",
        edits=[
            (WIDE, "    weights.data.add_((weights.sum(-1, keepdim=True) == 0).to(weights.dtype))\n" + WIDE),
            (SHARES, "    shares = wide / total\n"),
        ],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "flattens with view",
        edits=[(WIDE, "    weights.view(-1)\n" + WIDE)],
        check="test_strides",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                WIDE,
                "    if weights.dim() == 2 and len(weights):\n"
                "        return torch.stack([to_shares(row) for row in weights])\n" + WIDE,
            )
        ],
        check="test_no_loop",
        says="grows",
    ),
    Wrong(
        "asks whether there are rows of zeros",
        edits=[
            (SHARES, "    if not empty.any():\n        return (wide / total).to(weights.dtype)\n" + SHARES)
        ],
        check="test_stays_on_the_device",
    ),
    Works(
        "where, and its gradient of NaN",
        code="""
import torch

def to_shares(weights):
    total = weights.sum(-1, keepdim=True)
    return torch.where(total > 0, weights / total, 0.0)
""",
    ),
    Works(
        "divides, and puts zeros in the place of NaN",
        code="""
import torch

def to_shares(weights):
    return torch.nan_to_num(weights / weights.sum(dim=-1, keepdim=True), nan=0.0)
""",
    ),
    Works(
        "a clamp at the smallest number",
        code="""
import torch

def to_shares(weights):
    total = weights.sum(-1, keepdim=True)
    return weights / total.clamp(min=torch.finfo(weights.dtype).tiny)
""",
    ),
    Right(
        "where on both sides",
        code="""
import torch

def to_shares(weights):
    x = weights.to(torch.promote_types(weights.dtype, torch.float32))
    s = torch.sum(x, dim=-1, keepdim=True)
    some = s != 0
    out = torch.where(some, x / torch.where(some, s, torch.ones_like(s)), torch.zeros_like(x))
    return out.type_as(weights)
""",
    ),
    Right(
        "in float64, with an eps that float64 hardly sees, and a mask for the gradient",
        edits=instead("""
wide = weights.double()
total = wide.sum(-1, keepdim=True)
keep = (total != 0).double()
return (wide * keep / (total + 1e-300)).to(weights.dtype)
"""),
    ),
]
