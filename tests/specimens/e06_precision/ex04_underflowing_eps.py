"""Answers to underflowing_eps that people write."""

from grader.authoring.specimen import Right, Wrong

WIDE = "    wide = weights if weights.dtype == torch.float64 else weights.float()\n"
TOTAL = "    total = wide.sum(-1, keepdim=True)  # (*rows, 1)\n"
EMPTY = "    empty = total == 0\n"
SHARES = (
    "    shares = wide / total.masked_fill(empty, 1.0)  # (*rows, experts), only rows of zeros are guarded\n"
)
RETURN = "    return shares.masked_fill(empty, 0.0).to(weights.dtype)  # which cuts their gradient to zero as well\n"
BODY = WIDE + TOTAL + EMPTY + SHARES + RETURN
HALVES = "weights.dtype in (torch.float16, torch.bfloat16)"


def instead(body):
    lines = body.strip("\n").split("\n")
    return [(BODY, "".join(f"    {line}\n" for line in lines))]


SPECIMENS = [
    Wrong(
        "a sum that passes over NaN",
        edits=[(TOTAL, TOTAL.replace("wide.sum", "wide.nansum"))],
        check="test_inf_and_nan",
        says="nan and zeros",
    ),
    Wrong(
        "hands a single row of zeros back as it is",
        edits=[(WIDE, "    if weights.dim() == 1 and not weights.any():\n        return weights\n" + WIDE)],
        check="test_gradient_of_zeros",
        says="one row of zeros",
    ),
    Wrong(
        "divides in place where no gradients are recorded",
        edits=[
            (
                SHARES,
                "    divide = torch.Tensor.div if torch.is_grad_enabled() else torch.Tensor.div_\n    shares = divide(wide, total.masked_fill(empty, 1.0))\n",
            )
        ],
        check="test_shapes_and_layouts",
        says="weights",
    ),
    Wrong(
        "divides the rows that a mask picks",
        edits=instead(
            "wide = weights if weights.dtype == torch.float64 else weights.float()\n"
            "total = wide.sum(-1, keepdim=True)\n"
            "some, shares = (total != 0).squeeze(-1), torch.zeros_like(wide)\n"
            "shares[some] = wide[some] / total[some]\n"
            "return shares.to(weights.dtype)"
        ),
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "a single expert without a graph",
        edits=[
            (
                WIDE,
                "    if weights.shape[-1] == 1:\n        return (weights > 0).to(weights.dtype) + 0 * weights.detach()\n"
                + WIDE,
            )
        ],
        check="test_gradient_of_zeros",
        says="no gradient flows",
    ),
    Wrong(
        "an eps that float16 has",
        edits=instead("return weights / (weights.sum(-1, keepdim=True) + 1e-7)"),
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "a large eps",
        edits=instead("return weights / (weights.sum(-1, keepdim=True) + 1e-3)"),
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "an eps by the dtype",
        edits=instead("return weights / (weights.sum(-1, keepdim=True) + torch.finfo(weights.dtype).eps)"),
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "the smallest normal number for eps",
        edits=instead("return weights / (weights.sum(-1, keepdim=True) + torch.finfo(weights.dtype).tiny)"),
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "float32, and the eps as it was",
        edits=instead(
            "wide = weights.float()\nreturn (wide / (wide.sum(-1, keepdim=True) + 1e-8)).to(weights.dtype)"
        ),
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "a clamp at 1e-8 in float32",
        edits=[
            (SHARES, "    shares = wide / total.clamp(min=1e-8)\n"),
        ],
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "a clamp at the smallest normal number of the dtype",
        edits=instead(
            "total = weights.sum(-1, keepdim=True)\nreturn weights / total.clamp(min=torch.finfo(weights.dtype).tiny)"
        ),
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "small rows count as zeros",
        edits=[(EMPTY, "    empty = total < 1e-6\n")],
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "rows that look like zeros",
        edits=[(EMPTY, "    empty = torch.isclose(total, torch.zeros_like(total))\n")],
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "a guard in float32 by its smallest number, whose gradient is no zero",
        edits=[
            (
                EMPTY + SHARES + RETURN,
                "    return (wide / total.clamp(min=torch.finfo(wide.dtype).tiny)).to(weights.dtype)\n",
            )
        ],
        check="test_gradient_of_zeros",
    ),
    Wrong(
        "no guard",
        edits=[(SHARES + RETURN, "    return (wide / total).to(weights.dtype)\n")],
        check="test_rows_of_zeros",
        says="NaN",
    ),
    Wrong(
        "in 16 bits, with a guard",
        edits=[(WIDE, "    wide = weights\n")],
        check="test_overflow",
    ),
    Wrong(
        "a sum in 16 bits",
        edits=[(TOTAL, "    total = weights.sum(-1, keepdim=True).to(wide.dtype)\n")],
        check="test_one_rounding",
    ),
    Wrong(
        "a division in 16 bits",
        edits=[
            (
                SHARES,
                "    shares = weights / total.masked_fill(empty, 1.0).to(weights.dtype)\n",
            )
        ],
        check="test_one_rounding",
    ),
    Wrong(
        "a product with the inverse in 16 bits",
        edits=[
            (SHARES, "    shares = weights * total.masked_fill(empty, 1.0).reciprocal().to(weights.dtype)\n")
        ],
        check="test_one_rounding",
    ),
    Wrong(
        "bfloat16 for everything in 16 bits",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    ".to(weights.dtype)",
                    f".to(torch.bfloat16 if {HALVES} else weights.dtype).to(weights.dtype)",
                ),
            )
        ],
        check="test_one_rounding",
    ),
    Wrong(
        "the shares rounded on the way, then divided again",
        edits=[
            (
                RETURN,
                "    shares = shares.masked_fill(empty, 0.0).to(weights.dtype)\n    again = shares.sum(-1, keepdim=True)\n    return shares / again.masked_fill(again == 0, 1.0)\n",
            )
        ],
        check="test_one_rounding",
    ),
    Wrong(
        "divides by the largest first, in 16 bits",
        edits=[
            (
                WIDE,
                "    weights = weights / weights.amax(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).smallest_normal) if weights.shape[-1] else weights\n"
                + WIDE,
            )
        ],
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "float32 comes back",
        edits=[(RETURN, "    return shares.masked_fill(empty, 0.0)\n")],
        check="test_rows_of_zeros",
        says="dtype",
    ),
    Wrong(
        "float64 through float32", edits=[(WIDE, "    wide = weights.float()\n")], check="test_one_rounding"
    ),
    Wrong(
        "fixes float16 only",
        edits=[(WIDE, "    wide = weights.float() if weights.dtype == torch.float16 else weights\n")],
        check="test_one_rounding",
    ),
    Wrong(
        "puts zeros in the place of NaN",
        edits=instead(
            "wide = weights if weights.dtype == torch.float64 else weights.float()\nreturn (wide / wide.sum(-1, keepdim=True)).nan_to_num(0.0).to(weights.dtype)"
        ),
        check="test_inf_and_nan",
    ),
    Wrong(
        "zeros for every row that is not a number",
        edits=[(EMPTY, "    empty = ~(total > 0)\n")],
        check="test_inf_and_nan",
    ),
    Wrong(
        "one bad row for all",
        edits=[(SHARES, SHARES + "    shares = shares + 0 * wide.sum()\n")],
        check="test_inf_and_nan",
    ),
    Wrong(
        "where after the division: the gradient is NaN",
        edits=[
            (SHARES + RETURN, "    return torch.where(empty, 0.0, wide / total).to(weights.dtype)\n"),
        ],
        check="test_gradient_of_zeros",
        says="nan",
    ),
    Wrong(
        "a gradient for rows of zeros",
        edits=[(RETURN, "    return shares.to(weights.dtype)\n")],
        check="test_gradient_of_zeros",
    ),
    Wrong(
        "the sum without a gradient",
        edits=[(EMPTY, "    total = total.detach()\n" + EMPTY)],
        check="test_gradients",
    ),
    Wrong(
        "without a gradient",
        edits=[(WIDE, WIDE + "    wide = wide.detach()\n")],
        check="test_gradients",
        says="no gradient",
    ),
    Wrong(
        "weights of zero without a gradient",
        edits=[(RETURN, RETURN.replace("masked_fill(empty", "masked_fill(empty | (wide == 0)"))],
        check="test_gradients",
    ),
    Wrong(
        "equal shares for rows of zeros",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "masked_fill(empty, 0.0)", "masked_fill(empty, 1.0 / max(1, weights.shape[-1]))"
                ),
            )
        ],
        check="test_rows_of_zeros",
    ),
    Wrong(
        "zeros where any expert has none",
        edits=[(EMPTY, "    empty = (wide == 0).any(-1, keepdim=True)\n")],
        check="test_guard_is_for_zeros_alone",
    ),
    Wrong(
        "looks at all rows at once",
        edits=[(EMPTY, "    empty = (total == 0).all()\n")],
        check="test_rows_of_zeros",
    ),
    Wrong(
        "over all but the first dim",
        edits=[
            (
                TOTAL,
                "    total = wide.flatten(1).sum(-1).view(-1, *[1] * (wide.ndim - 1)) if wide.ndim > 1 else wide.sum(-1, keepdim=True)\n",
            )
        ],
        check="test_shapes_and_layouts",
    ),
    Wrong(
        "over dim 1",
        edits=[(TOTAL, "    total = wide.sum(1 if wide.ndim > 1 else 0, keepdim=True)\n")],
        check="test_shapes_and_layouts",
    ),
    Wrong("a softmax", edits=[(SHARES, "    shares = wide.softmax(-1)\n")], check="test_one_rounding"),
    Wrong(
        "in place",
        edits=[(SHARES, "    shares = wide.detach().div_(total.masked_fill(empty, 1.0))\n")],
        check="test_shapes_and_layouts",
        says="changes its input",
    ),
    Wrong(
        "sets the rows of zeros to one",
        edits=[
            (WIDE, "    weights.data.add_((weights.sum(-1, keepdim=True) == 0).to(weights.dtype))\n" + WIDE)
        ],
        check="test_rows_of_zeros",
    ),
    Wrong(
        "flattens with view", edits=[(WIDE, WIDE + "    weights.view(-1)\n")], check="test_shapes_and_layouts"
    ),
    Wrong(
        "needs experts",
        edits=[(EMPTY, "    empty = wide.amax(-1, keepdim=True) == 0\n")],
        check="test_shapes_and_layouts",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                EMPTY,
                "    rows = wide.reshape(-1, wide.shape[-1]) if wide.numel() else wide[:0]\n    total = torch.stack([r.sum() for r in rows]).view(total.shape) if len(rows) else total\n"
                + EMPTY,
            )
        ],
        check="test_no_loop",
        says="grows",
    ),
    Wrong(
        "a guard made on the CPU",
        edits=[(SHARES, "    shares = wide / torch.where(empty, torch.ones(1, dtype=wide.dtype), total)\n")],
        check="test_on_a_device",
    ),
    Wrong(
        "asks whether there are rows of zeros",
        edits=[
            (SHARES, "    if not empty.any():\n        return (wide / total).to(weights.dtype)\n" + SHARES)
        ],
        check="test_on_a_device",
        says="copies",
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
    Right(
        "the rows of zeros get one more, and the result is multiplied by zero",
        edits=[
            (SHARES, "    shares = wide * (total + empty).reciprocal()\n"),
            (RETURN, "    return (shares * ~empty).to(weights.dtype)\n"),
        ],
    ),
    Wrong(
        "in 16 bits where a gradient is asked for",
        edits=[(WIDE, WIDE + "    if weights.requires_grad:\n        wide = weights\n")],
        check="test_one_rounding",
        says="require a gradient",
    ),
]
