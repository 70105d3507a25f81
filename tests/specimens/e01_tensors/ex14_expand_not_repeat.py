"""Answers to expand_not_repeat that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SHARE = "prompt.expand(beams, *prompt.shape)  # stride 0 along beams"
OWN = "prompt.expand(beams, *prompt.shape).clone()  # (beams, *shape)"
SUM = "x + table[:time]  # (*batch, time, dim) + (time, dim)"

SPECIMENS = [
    Wrong(
        "stacks the prompt to share it",
        edits=[(SHARE, "__import__('torch').stack([prompt] * beams)")],
        check="test_share_view",
        says="copies",
        rung="job",
    ),
    Wrong(
        "shares prompts of two dimensions only",
        edits=[(SHARE, "prompt.expand(beams, -1, -1)")],
        check="test_share_values",
        rung="job",
    ),
    Wrong(
        "repeats each token, not the prompt",
        edits=[(OWN, "prompt.repeat_interleave(beams, 0).view(beams, *prompt.shape)")],
        check="test_own_values",
        says="wrong values",
        rung="job",
    ),
    Wrong(
        "copies the prompt, then expands the copy",
        edits=[(OWN, "prompt.clone().expand(beams, *prompt.shape)")],
        check="test_first_write_values",
        says="after the first has written",
        rung="job",
    ),
    Wrong(
        "the first rows along the wrong dimension",
        edits=[("time = x.shape[-2]", "time = x.shape[0]")],
        check="test_add_positions_values",
        rung="job",
    ),
    Wrong(
        "uses the last rows of the table",
        edits=[(SUM, "x + table[-time:]")],
        check="test_add_positions_values",
        says="the last rows",
        rung="job",
    ),
    Wrong(
        "repeats the table for every sequence",
        edits=[(SUM, "x + table[:time].repeat(*x.shape[:-2], 1, 1)")],
        check="test_nothing_but_the_sums",
        says="broadcasts",
        rung="job",
    ),
    Wrong(
        "expands a contiguous copy: a view, but of another tensor where the prompt is transposed",
        edits=[(SHARE, "prompt.contiguous().expand(beams, *prompt.shape)")],
        check="test_share_view_of_transposed",
    ),
    Wrong(
        "contiguous() instead of a copy: with one beam it is the prompt itself",
        edits=[(OWN, "prompt.expand(beams, *prompt.shape).contiguous()")],
        check="test_own_single_beam",
        says="view of its input",
    ),
    Wrong(
        "clones for each beam and stacks the clones, of which there may be none",
        edits=[(OWN, "__import__('torch').stack([prompt.clone() for _ in range(beams)])")],
        check="test_owning_copies_once",
        says="more than once",
    ),
    Wrong(
        "views what a transposed prompt cannot give",
        edits=[(OWN, "prompt.view(-1).repeat(beams).view(beams, *prompt.shape)")],
        check="test_own_strides",
        says="view size is not compatible",
    ),
    Wrong(
        "fills a new tensor, of floats and on the CPU",
        edits=[(OWN, "__import__('torch').zeros(beams, *prompt.shape) + prompt")],
        check="test_own_dtype_is_kept",
        says="float32",
    ),
    Wrong(
        "a copy on the CPU",
        edits=[(OWN, "prompt.cpu().repeat(beams, *[1] * prompt.dim())")],
        check="test_own_stays_on_the_device",
        says="device",
    ),
    Wrong(
        "what is copied has no history",
        edits=[(OWN, "prompt.detach().expand(beams, *prompt.shape).clone()"), (SUM, "x.data + table[:time]")],
        check="test_own_gradients",
        says="no gradient",
    ),
    Wrong(
        "makes the sequences contiguous before adding, and adds in place",
        edits=[(f"return {SUM}", "x = x.contiguous()\n    x += table[:time]\n    return x")],
        check="test_add_positions_arguments_are_left_alone",
        says="changes its input x",
    ),
    Works(
        "unsqueeze and expand, made contiguous to own, as Hugging Face prepares beams",
        code="""
def share(prompt, beams):
    return prompt.unsqueeze(0).expand(beams, *prompt.shape)

def own(prompt, beams):
    return share(prompt, beams).contiguous()

def add_positions(x, table):
    return x + table[:x.shape[-2]].unsqueeze(0) if x.dim() == 3 else x + table[:x.shape[-2]]
""",
    ),
    Works(
        "stacked clones, and positions looked up by their numbers, as GPT-2 has it",
        code="""
import torch

def share(prompt, beams):
    return torch.broadcast_to(prompt, (beams, *prompt.shape))

def own(prompt, beams):
    return torch.stack([prompt.clone() for _ in range(beams)])

def add_positions(x, table):
    pos = torch.arange(x.size(-2), device=x.device)
    return x + table[pos]
""",
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
]
