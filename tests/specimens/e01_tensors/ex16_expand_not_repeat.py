"""Answers to expand_not_repeat that people write."""

from grader.authoring.specimen import Right, Wrong

SHARE = "prompt.expand(beams, *prompt.shape)  # stride 0 along beams"
OWN = "prompt.expand(beams, *prompt.shape).clone()  # (beams, *shape)"
SUM = "x + table[:time]  # (*batch, time, dim) + (time, dim)"

SPECIMENS = [
    Wrong(
        "a new tensor for no beams",
        edits=[
            (SHARE, "prompt.expand(beams, *prompt.shape) if beams else prompt.new_empty(0, *prompt.shape)")
        ],
        check="test_sharing_copies_nothing",
        says="share(prompt, 0)",
    ),
    Wrong(
        "no beams, in float32",
        edits=[
            (
                "return " + OWN,
                "return "
                + OWN.replace(")  #", ") if beams else prompt.new_empty((0, *prompt.shape)).float()  #"),
            )
        ],
        check="test_every_beam_gets_the_prompt",
        says="float64",
    ),
    Wrong(
        "shares a copy where gradients are wanted",
        edits=[(SHARE, "(prompt * 1 if prompt.requires_grad else prompt).expand(beams, *prompt.shape)")],
        check="test_sharing_copies_nothing",
        says="copies",
    ),
    Wrong(
        "half precision by way of float32, twice as large",
        edits=[
            (
                SUM,
                "(x.float() + table[:time].float()).to(x.dtype) if x.dtype.itemsize == 2 else x + table[:time]",
            )
        ],
        check="test_positions_allocate_the_sum_only",
        says="holds more",
    ),
    Wrong(
        "takes the whole table for sequences without a position",
        edits=[("table[:time]", "table[: time or None]")],
        check="test_positions",
    ),
    Wrong(
        "makes the sequences contiguous before adding",
        edits=[("return x + table", "return x.contiguous() + table")],
        check="test_positions_allocate_the_sum_only",
        says="copied",
    ),
    Wrong(
        "gathers the rows of the table by an index",
        edits=[("table[:time]", "table[__import__('torch').arange(time)]")],
        check="test_positions_allocate_the_sum_only",
        says="copied",
    ),
    Wrong(
        "stacks the prompt to share it",
        edits=[
            (
                SHARE,
                "__import__('torch').stack([prompt] * beams) if beams else prompt.new_empty(0, *prompt.shape)",
            )
        ],
        check="test_sharing_copies_nothing",
        says="copies",
    ),
    Wrong(
        "expands a contiguous copy: a view, but of another tensor where the prompt is transposed",
        edits=[(SHARE, "prompt.contiguous().expand(beams, *prompt.shape)")],
        check="test_sharing_copies_nothing",
    ),
    Wrong(
        "shares prompts of two dimensions only",
        edits=[(SHARE, "prompt.expand(beams, -1, -1)")],
        check="test_every_beam_gets_the_prompt",
    ),
    Wrong(
        "repeats each token, not the prompt",
        edits=[
            (
                OWN,
                "prompt.repeat_interleave(beams, 0).view(beams, *prompt.shape) if prompt.dim() else prompt.repeat(beams)",
            )
        ],
        check="test_every_beam_gets_the_prompt",
    ),
    Wrong(
        "views what a transposed prompt cannot give",
        edits=[(OWN, "prompt.view(-1).repeat(beams).view(beams, *prompt.shape)")],
        check="test_layout_and_dtype",
    ),
    Wrong(
        "makes floats of token ids",
        edits=[(OWN, "prompt.new_zeros(beams, *prompt.shape).float() + prompt")],
        check="test_layout_and_dtype",
        says="float32",
    ),
    Wrong(
        "contiguous() instead of a copy: with one beam it is the prompt itself",
        edits=[(OWN, "prompt.expand(beams, *prompt.shape).contiguous()")],
        check="test_owning_copies",
        says="view of its input",
    ),
    Wrong(
        "copies the prompt, then expands the copy",
        edits=[(OWN, "prompt.clone().expand(beams, *prompt.shape)")],
        check="test_owning_copies",
        says="after a write to beam 0",
    ),
    Wrong(
        "hands a prompt of one number out as it is",
        edits=[
            (
                "prompt.expand(beams, *prompt.shape).clone()",
                "prompt.expand(beams, *prompt.shape).contiguous() if prompt.dim() == 0 else prompt.expand(beams, *prompt.shape).clone()",
            )
        ],
        check="test_owning_copies",
        says="view",
    ),
    Wrong(
        "copies twice",
        edits=[(OWN, "prompt.repeat(beams, *[1] * prompt.dim()).clone()")],
        check="test_owning_copies_once",
        says="more than once",
    ),
    Wrong(
        "the first rows along the wrong dimension",
        edits=[("time = x.shape[-2]", "time = x.shape[0]"), (SUM, "x + table[:time]")],
        check="test_positions",
    ),
    Wrong(
        "uses the last rows of the table",
        edits=[(SUM, "x + table[-time:]")],
        check="test_positions",
    ),
    Wrong(
        "one leading dimension only",
        edits=[("time = x.shape[-2]", "batch, time, dim = x.shape")],
        check="test_positions",
    ),
    Wrong(
        "repeats the table for every sequence",
        edits=[(SUM, "x + table[:time].repeat(*x.shape[:-2], 1, 1)")],
        check="test_positions_allocate_the_sum_only",
        says="broadcasts",
    ),
    Wrong(
        "adds in place",
        edits=[(SUM, "x + table[:time] if __import__('torch').is_grad_enabled() else x.add_(table[:time])")],
        check="test_arguments_are_left_alone",
        says="changes its input x",
    ),
    Wrong(
        "a tensor made anew has no history",
        edits=[(OWN, "prompt.detach().expand(beams, *prompt.shape).clone()")],
        check="test_gradients",
        says="no gradient",
    ),
    Wrong(
        "the table is a constant",
        edits=[(SUM, "x + table[:time].data")],
        check="test_gradients",
        says="table",
    ),
    Wrong(
        "adds into a new tensor where x needs no gradient, though the table may",
        edits=[
            (
                "return " + SUM,
                "import torch; return torch.add(x, table[:time], out=None if x.requires_grad else torch.empty_like(x))",
            )
        ],
        check="test_gradients",
        says="automatic differentiation",
    ),
    Wrong(
        "makes one batch of many dimensions, which copies beams that share memory",
        edits=[
            (
                "return " + SUM,
                "return ((x.flatten(0, -3) if x.dim() > 3 else x) + table[:time]).view(x.shape)",
            )
        ],
        check="test_positions_allocate_the_sum_only",
    ),
    Right(
        "repeat to own, broadcast_to to share, clone and add",
        code="""
def share(prompt, beams):
    return prompt.broadcast_to((beams,) + tuple(prompt.shape))

def own(prompt, beams):
    return prompt.repeat([beams] + [1] * prompt.ndim)

def add_positions(x, table):
    out = x.clone()
    out += table.narrow(0, 0, x.size(-2))
    return out
""",
    ),
    Right(
        "unsqueeze and expand, filled by copy_",
        code="""
import torch

def share(prompt, beams):
    return prompt[None].expand(beams, *(-1,) * prompt.dim())

def own(prompt, beams):
    out = prompt.new_empty((beams, *prompt.shape))
    out.copy_(prompt)
    return out

def add_positions(x, table):
    return torch.add(table[: x.shape[-2], :], x)
""",
    ),
    Wrong(
        "shares a strided prompt by its storage alone",
        edits=[
            (SHARE, "(prompt if prompt.is_contiguous() else prompt.detach()).expand(beams, *prompt.shape)")
        ],
        check="test_gradients",
        says="prompt.t()",
    ),
    Wrong(
        "fills a new tensor that lies on the CPU",
        edits=[
            (
                "return " + OWN,
                "return __import__('torch').empty(beams, *prompt.shape, dtype=prompt.dtype).copy_(prompt)",
            )
        ],
        check="test_on_the_device_of_the_arguments",
        says="another device",
    ),
    Wrong(
        "returns x where there is nothing to add",
        edits=[(SUM, SUM.replace("x +", "x if x.numel() == 0 else x +", 1))],
        check="test_positions",
        says="x itself",
    ),
]
