"""Answers to recompile_storm that people write."""

from grader.authoring.specimen import Right, Works, Wrong

STEPS = (
    '        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))  # whole: no cast rounds it\n'
)
COUNT = "        if self.training:\n            self.steps += 1\n"
STRENGTH = (
    "        strength = (self.steps / self.warmup).clamp(max=1.0)  # (): data, which no guard looks at\n"
)
POSITION = "        position = torch.arange(scores.shape[-1], device=scores.device)  # (time,)\n"
DISTANCE = "        distance = (position[:, None] - position).abs()  # (time, time)\n"
BIAS = "        bias = strength * self.slopes[:, None, None] * distance  # (heads, time, time)\n"
RETURN = "        return scores - bias.to(scores.dtype)\n"
BODY = COUNT + STRENGTH + POSITION + DISTANCE + BIAS + RETURN
INT_STRENGTH = "        strength = min(1.0, self.steps / self.warmup)\n"

SPECIMENS = [
    Wrong(
        "lengths are still looked up",
        edits=[
            (STEPS, STEPS + "        self.distances = {}\n"),
            (
                POSITION + DISTANCE,
                """        time = scores.shape[-1]
        if time not in self.distances:
            position = torch.arange(time, device=scores.device)
            self.distances[time] = (position[:, None] - position).abs()
        distance = self.distances[time].to(scores.device)
""",
            ),
        ],
        check="test_graphs_over_lengths",
        says="a length as a key",
        rung="job",
    ),
    Wrong(
        "branches on the counter",
        edits=[
            (STRENGTH, "        strength = self.steps / self.warmup if self.steps < self.warmup else 1.0\n")
        ],
        check="test_graphs_over_steps",
        says="if self.steps < self.warmup",
        rung="job",
    ),
    Wrong(
        "changes the setting that the log suggests",
        edits=[
            (
                "from torch import Tensor, nn\n",
                "from torch import Tensor, nn\n\nimport torch._dynamo\ntorch._dynamo.config.allow_unspec_int_on_nn_module = True\n",
            ),
            (STEPS, "        self.steps = 0\n"),
            (STRENGTH, INT_STRENGTH),
        ],
        check="test_graphs_over_steps",
        says="guards",
        rung="job",
    ),
    Wrong(
        "counts after the call",
        edits=[
            (COUNT, ""),
            (RETURN, "        result = scores - bias.to(scores.dtype)\n" + COUNT + "        return result\n"),
        ],
        check="test_strength",
        says="count first",
        rung="job",
    ),
    Wrong(
        "grows for ever",
        edits=[(".clamp(max=1.0)", "")],
        check="test_strength",
        says="beyond 1",
        rung="job",
    ),
    Wrong(
        "counts in evaluation too",
        edits=[(COUNT, "        self.steps += 1\n")],
        check="test_evaluation",
        says="a step too far",
        rung="job",
    ),
    Wrong(
        "the signed distance",
        edits=[("(position[:, None] - position).abs()", "position[:, None] - position")],
        check="test_strength",
        says="sign",
        rung="job",
    ),
    Wrong(
        "slopes that cannot learn",
        edits=[(BIAS, BIAS.replace("self.slopes", "self.slopes.detach()"))],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "asks the counter for its number",
        edits=[
            (
                STRENGTH,
                "        strength = torch.full((), self.steps.cpu() / self.warmup).clamp(max=1.0).to(scores.device)\n",
            )
        ],
        check="test_on_a_device",
        says="host waits",
    ),
    Wrong(
        "a buffer that is not saved",
        edits=[(STEPS, STEPS.replace("dtype=torch.int64)", "dtype=torch.int64), persistent=False"))],
        check="test_checkpoint",
    ),
    Wrong(
        "a parameter as the counter",
        edits=[
            (
                STEPS,
                "        self.steps = nn.Parameter(torch.zeros((), dtype=torch.int64), requires_grad=False)\n",
            )
        ],
        check="test_checkpoint",
        says="names of the parameters",
    ),
    Wrong(
        "a float as the counter",
        edits=[(STEPS, '        self.register_buffer("steps", torch.zeros(()))\n')],
        check="test_cast",
        says="stopped at 256",
    ),
    Wrong(
        "a table of 512 positions",
        edits=[
            (
                STEPS,
                STEPS
                + """        position = torch.arange(512)
        self.register_buffer("distances", (position[:, None] - position).abs(), persistent=False)
""",
            ),
            (
                POSITION + DISTANCE,
                "        distance = self.distances[: scores.shape[-1], : scores.shape[-1]]\n",
            ),
        ],
        check="test_long_scores",
    ),
    Wrong(
        "the dtype that comes out",
        edits=[(RETURN, "        return scores - bias\n")],
        check="test_scores",
        says="dtype",
    ),
    Wrong(
        "positions on the CPU",
        edits=[(POSITION, POSITION.replace(", device=scores.device", ""))],
        check="test_on_a_device",
    ),
    Wrong(
        "in place",
        edits=[(RETURN, "        return scores.sub_(bias.to(scores.dtype))\n")],
        check="test_scores",
        says="changes its input scores",
    ),
    Works(
        "a float in a buffer, as an average keeps its count, and a table as in ALiBi",
        code="""
import torch
from torch import nn


class RecencyBias(nn.Module):
    def __init__(self, heads, warmup, max_len=1024):
        super().__init__()
        self.warmup = warmup
        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))
        self.register_buffer("steps", torch.tensor(0.0))
        pos = torch.arange(max_len)
        self.register_buffer("distances", (pos[None, :] - pos[:, None]).abs().float(), persistent=False)

    def forward(self, scores):
        if self.training:
            self.steps += 1
        strength = torch.clamp(self.steps / self.warmup, max=1.0)
        T = scores.size(-1)
        return scores - strength * self.slopes.view(-1, 1, 1) * self.distances[:T, :T]
""",
    ),
    Works(
        "a plain tensor as the counter",
        code="""
import torch
from torch import nn


class RecencyBias(nn.Module):
    def __init__(self, heads, warmup):
        super().__init__()
        self.warmup = warmup
        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))
        self.steps = torch.tensor(0)

    def forward(self, scores):
        if self.training:
            self.steps = self.steps + 1
        strength = torch.minimum(torch.tensor(1.0), self.steps / self.warmup)
        position = torch.arange(scores.shape[-1])
        distance = (position[:, None] - position[None, :]).abs()
        return scores - strength * self.slopes[:, None, None] * distance
""",
    ),
    Right(
        "the missing strength, tril and triu",
        edits=[
            (STEPS, '        self.register_buffer("left", torch.tensor(warmup, dtype=torch.int32))\n'),
            (
                BODY,
                """        if self.training:
            self.left.copy_(torch.clamp(self.left - 1, min=0))
        strength = 1 - self.left.float() / self.warmup
        time = scores.size(-1)
        ones = torch.ones(time, time, device=scores.device)
        distance = ones.tril(-1).cumsum(0).tril(-1) + ones.triu(1).cumsum(1).triu(1)
        return torch.sub(scores, torch.einsum("h,ij->hij", self.slopes * strength, distance).type_as(scores))
""",
            ),
        ],
    ),
    Right(
        "a submodule that counts, broadcasting the mode",
        edits=[
            (
                "class RecencyBias(",
                '''class Fade(nn.Module):
    """Counts in a buffer of one element."""

    def __init__(self, warmup):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1, dtype=torch.long))
        self.warmup = float(warmup)

    def forward(self):
        self.calls = self.calls + int(self.training)
        return torch.minimum(self.calls.double() / self.warmup, self.calls.new_ones(1, dtype=torch.float64))


class RecencyBias(''',
            ),
            (STEPS, "        self.fade = Fade(warmup)\n"),
            (COUNT + STRENGTH, "        strength = self.fade()\n"),
        ],
    ),
]
