"""Answers to recompile_storm that people write."""

from grader.authoring.specimen import Right, Wrong

SLOPES = "        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))\n"
STEPS = (
    '        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))  # whole: no cast rounds it\n'
)
COUNT = "        if self.training:\n            self.steps += 1\n"
STRENGTH = "        strength = (self.steps / self.warmup).clamp(max=1.0)  # (): a new tensor, which no later step changes\n"
POSITION = "        position = torch.arange(scores.shape[-1], device=scores.device)  # (time,)\n"
DISTANCE = "        distance = (position[:, None] - position).abs()  # (time, time)\n"
BIAS = "        bias = strength * self.slopes[:, None, None] * distance  # (heads, time, time)\n"
RETURN = "        return scores - bias.to(scores.dtype)\n"
BODY = COUNT + STRENGTH + POSITION + DISTANCE + BIAS + RETURN
INT_STRENGTH = "        strength = min(1.0, self.steps / self.warmup)\n"

SPECIMENS = [
    Wrong(
        "no gradients in evaluation mode",
        edits=[
            (BIAS, BIAS.replace("self.slopes[", "(self.slopes if self.training else self.slopes.detach())["))
        ],
        check="test_gradients",
        says="evaluation mode",
    ),
    Wrong(
        "makes the bias like the scores by a product with zero",
        edits=[(RETURN, "        return scores - (bias + 0 * scores).to(scores.dtype)\n")],
        check="test_strided",
        says="masked with -inf",
    ),
    Wrong(
        "the warm-up in a buffer that casts to float16",
        edits=[
            (
                "        self.warmup = warmup\n",
                '        self.register_buffer("warmup", torch.tensor(float(warmup)))\n',
            )
        ],
        check="test_long_warmup",
    ),
    Wrong(
        "a table of 4096 positions",
        edits=[
            (POSITION, "        position = torch.arange(4096, device=scores.device)[: scores.shape[-1]]\n")
        ],
        check="test_long_scores",
    ),
    Wrong(
        "the counter is left",
        edits=[(STEPS, "        self.steps = 0\n"), (STRENGTH, INT_STRENGTH)],
        check="test_graphs_over_steps",
        says="guards",
    ),
    Wrong(
        "the counter in the state_dict, and in Python still",
        edits=[
            (
                STEPS,
                "        self.steps = 0\n\n    def get_extra_state(self):\n        return torch.tensor(self.steps)\n\n    def set_extra_state(self, state):\n        self.steps = int(state)\n",
            ),
            (STRENGTH, INT_STRENGTH),
        ],
        check="test_graphs_over_steps",
    ),
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
        says="graphs",
    ),
    Wrong(
        "distances that grow with the longest length",
        edits=[
            (STEPS, STEPS + "        self.distances = torch.zeros(0, 0)\n"),
            (
                POSITION + DISTANCE,
                """        time = scores.shape[-1]
        if time > len(self.distances):
            position = torch.arange(time, device=scores.device)
            self.distances = (position[:, None] - position).abs()
        distance = self.distances[:time, :time].to(scores.device)
""",
            ),
        ],
        check="test_graphs_over_lengths",
    ),
    Wrong(
        "distances for 1024 positions at most",
        edits=[
            (
                STEPS,
                STEPS
                + """        position = torch.arange(1024)
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
        "counts in Python where it is not compiled",
        edits=[
            (STEPS, STEPS + "        self.count = 0\n"),
            (
                COUNT,
                """        if self.training and torch.compiler.is_compiling():
            self.steps += 1
        elif self.training:
            self.count += 1
            self.steps.fill_(self.count)
""",
            ),
        ],
        check="test_every_training_call_counts",
    ),
    Wrong(
        "does not count under no_grad",
        edits=[(COUNT, COUNT.replace("self.training", "self.training and torch.is_grad_enabled()"))],
        check="test_every_training_call_counts",
        says="under no_grad",
    ),
    Wrong(
        "distances by a loop in Python",
        edits=[
            (
                POSITION + DISTANCE,
                """        time = scores.shape[-1]
        distance = torch.tensor([[abs(i - j) for j in range(time)] for i in range(time)], device=scores.device)
""",
            )
        ],
        check="test_graphs_over_lengths",
    ),
    Wrong(
        "asks the counter for its number",
        edits=[(STRENGTH, "        strength = min(1.0, self.steps.item() / self.warmup)\n")],
        check="test_on_a_device",
    ),
    Wrong(
        "branches on the counter",
        edits=[
            (STRENGTH, "        strength = self.steps / self.warmup if self.steps < self.warmup else 1.0\n")
        ],
        check="test_graphs_over_steps",
    ),
    Wrong(
        "keeps the module out of the compiler",
        edits=[
            ("    def forward(", "    @torch.compiler.disable\n    def forward("),
            (STEPS, "        self.steps = 0\n"),
            (STRENGTH, INT_STRENGTH),
        ],
        check="test_graphs_over_steps",
    ),
    Wrong(
        "does not count when compiled",
        edits=[
            (
                COUNT,
                COUNT.replace("if self.training", "if self.training and not torch.compiler.is_compiling()"),
            )
        ],
        check="test_graphs_over_steps",
    ),
    Wrong(
        "a constant strength when compiled",
        edits=[
            (
                STRENGTH,
                STRENGTH
                + "        if torch.compiler.is_compiling():\n            strength = torch.ones_like(strength)\n",
            )
        ],
        check="test_graphs_over_steps",
        says="compiled",
    ),
    Wrong(
        "settings of the compiler",
        edits=[
            (
                "from torch import Tensor, nn\n",
                "from torch import Tensor, nn\n\nimport torch._dynamo\ntorch._dynamo.config.allow_unspec_int_on_nn_module = True\n",
            ),
            (STEPS, "        self.steps = 0\n"),
            (STRENGTH, INT_STRENGTH),
        ],
        check="test_graphs_over_steps",
    ),
    Wrong(
        "a plain tensor as the counter",
        edits=[(STEPS, "        self.steps = torch.zeros((), dtype=torch.int64)\n")],
        check="test_checkpoint",
    ),
    Wrong(
        "a buffer that is not saved",
        edits=[(STEPS, STEPS.replace("dtype=torch.int64)", "dtype=torch.int64), persistent=False"))],
        check="test_checkpoint",
    ),
    Wrong(
        "a parameter as the counter",
        edits=[
            (STEPS, "        self.steps = nn.Parameter(torch.zeros(()), requires_grad=False)\n"),
        ],
        check="test_slopes",
    ),
    Wrong(
        "a float as the counter",
        edits=[(STEPS, '        self.register_buffer("steps", torch.zeros(()))\n')],
        check="test_cast",
    ),
    Wrong(
        "adds up the strength",
        edits=[
            (STEPS, '        self.register_buffer("steps", torch.zeros(()))\n'),
            (COUNT, COUNT.replace("+= 1", "+= 1 / self.warmup")),
            (STRENGTH, "        strength = self.steps.clamp(max=1.0)\n"),
        ],
        check="test_cast",
    ),
    Wrong(
        "saves the distances",
        edits=[
            (STEPS, STEPS + '        self.register_buffer("distances", torch.zeros(0, 0))\n'),
            (
                DISTANCE,
                DISTANCE
                + "        if not torch.compiler.is_compiling():\n            self.distances = distance\n",
            ),
        ],
        check="test_checkpoint",
    ),
    Wrong(
        "changes the strength in place",
        edits=[
            (STEPS, STEPS + '        self.register_buffer("strength", torch.zeros(()), persistent=False)\n'),
            (
                STRENGTH,
                "        self.strength.copy_((self.steps / self.warmup).clamp(max=1.0))\n        strength = self.strength\n",
            ),
        ],
        check="test_calls_before_backward",
    ),
    Wrong("counts after the call", edits=[(COUNT, ""), (RETURN, COUNT + RETURN)], check="test_strength"),
    Wrong(
        "counts in evaluation too",
        edits=[("        if self.training:\n            self.steps += 1\n", "        self.steps += 1\n")],
        check="test_strength",
    ),
    Wrong(
        "full strength in evaluation",
        edits=[
            (
                STRENGTH,
                STRENGTH
                + "        if not self.training:\n            strength = torch.ones_like(strength)\n",
            )
        ],
        check="test_strength",
    ),
    Wrong("grows for ever", edits=[(".clamp(max=1.0)", "")], check="test_strength"),
    Wrong(
        "the signed distance",
        edits=[("(position[:, None] - position).abs()", "position[:, None] - position")],
        check="test_strength",
    ),
    Wrong(
        "one slope for all heads",
        edits=[(BIAS, BIAS.replace("self.slopes[:", "self.slopes[:1][:").replace("[:1][:", "[:1][:"))],
        check="test_strength",
    ),
    Wrong(
        "slopes that cannot learn",
        edits=[(BIAS, BIAS.replace("self.slopes", "self.slopes.detach()"))],
        check="test_gradients",
    ),
    Wrong(
        "the counter belongs to the class",
        edits=[
            (STEPS, ""),
            (
                "    def __init__(self",
                "    steps = torch.zeros((), dtype=torch.int64)\n\n    def __init__(self",
            ),
        ],
        check="test_copies",
    ),
    Wrong(
        "the dtype that comes out",
        edits=[(RETURN, "        return scores - bias\n")],
        check="test_dtype_of_scores",
    ),
    Wrong(
        "the dtype of the slopes",
        edits=[(RETURN, "        return scores.to(self.slopes.dtype) - bias.to(self.slopes.dtype)\n")],
        check="test_dtype_of_scores",
    ),
    Wrong(
        "positions in the dtype of the scores",
        edits=[("device=scores.device)", "device=scores.device, dtype=scores.dtype)")],
        check="test_long_scores",
        says="in bfloat16",
    ),
    Wrong(
        "positions on the CPU",
        edits=[(POSITION, POSITION.replace(", device=scores.device", ""))],
        check="test_on_a_device",
    ),
    Wrong(
        "in place",
        edits=[(RETURN, "        return scores.sub_(bias.to(scores.dtype))\n")],
        check="test_strength",
        says="scores",
    ),
    Right(
        "a number in the state_dict, a buffer for the work",
        edits=[
            (
                STEPS,
                """        self.register_buffer("steps", torch.zeros((), dtype=torch.int64), persistent=False)

    def get_extra_state(self):
        return int(self.steps)

    def set_extra_state(self, state):
        self.steps.fill_(state)
""",
            )
        ],
    ),
    Right(
        "the missing strength, tril and triu",
        edits=[
            (STEPS, '        self.register_buffer("left", torch.tensor(warmup, dtype=torch.int32))\n'),
            (
                BODY,
                """        if self.training:
            self.left.copy_(torch.clamp(self.left - 1, min=0))
        strength = 1 - self.left.to(scores.dtype if scores.dtype == torch.float64 else torch.float32) / self.warmup
        time = scores.size(-1)
        ones = torch.ones(time, time, device=scores.device)
        distance = ones.tril(-1).cumsum(0).tril(-1) + ones.triu(1).cumsum(1).triu(1)
        return torch.sub(scores, torch.einsum("h,ij->hij", self.slopes * strength, distance.to(self.slopes.dtype)).type_as(scores))
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
            (
                COUNT + STRENGTH,
                "        strength = self.fade()\n",
            ),
            (
                POSITION + DISTANCE,
                "        position = torch.ones(scores.shape[-1], dtype=torch.long, device=scores.device).cumsum(0)\n        distance = torch.maximum(position[:, None], position) - torch.minimum(position[:, None], position)\n",
            ),
        ],
    ),
    Wrong(
        "a strength that copies share",
        code="""
import torch
from torch import nn
class RecencyBias(nn.Module):
    def __init__(self, heads, warmup):
        super().__init__()
        self.warmup = warmup
        self._strength = lambda: (self.steps / self.warmup).clamp(max=1)
        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
    def forward(self, scores):
        if self.training:
            self.steps += 1
        strength = self._strength()
        position = torch.arange(scores.shape[-1], device=scores.device)
        distance = (position[:, None] - position).abs()
        bias = strength * self.slopes[:, None, None] * distance
        return scores - bias.to(scores.dtype)
""",
        check="test_copies",
        says="deep copy",
    ),
    Wrong(
        "a whole count, and its share in the dtype of the slopes: in float16 it is inf beyond 65504",
        edits=[(STRENGTH, STRENGTH.replace("self.steps /", "self.steps.to(self.slopes.dtype) /"))],
        check="test_long_warmup",
        says="step 69,999",
    ),
    Wrong(
        "a count in 16 bits",
        edits=[(STEPS, STEPS.replace("int64", "int16"))],
        check="test_long_warmup",
        says="step 69,999",
    ),
    Wrong(
        "a float32 count that no cast reaches: it ends at 2^24, where one more is the same number",
        edits=[
            (
                STEPS,
                STEPS.replace("int64", "float32")
                + "\n    def _apply(self, fn, recurse=True):\n        super()._apply(fn, recurse)\n"
                "        self.steps.data = self.steps.data.float()\n        return self\n",
            )
        ],
        check="test_long_warmup",
        says="16,777,216",
    ),
    Wrong(
        "counts in the tensor that it has loaded, which is another module's",
        edits=[
            (
                STEPS,
                STEPS + "\n    def _load_from_state_dict(self, state_dict, prefix, *args):\n"
                '        self.steps = state_dict.get(prefix + "steps", self.steps)\n'
                "        super()._load_from_state_dict(state_dict, prefix, *args)\n",
            )
        ],
        check="test_checkpoint",
        says="another module has loaded",
    ),
    Wrong(
        "keeps the strength of the last training call, too, where a cast rounds it",
        edits=[
            (STEPS, STEPS + '        self.register_buffer("strength", torch.zeros(()))\n'),
            (
                STRENGTH,
                "            self.strength = (self.steps / self.warmup).clamp(max=1.0)\n"
                "        strength = self.strength\n",
            ),
        ],
        check="test_cast",
        says="and back",
    ),
    Wrong(
        "looks short distances up in a table, which is a graph more",
        edits=[
            (
                POSITION + DISTANCE,
                "        if scores.shape[-1] <= 512:\n"
                "            distance = self.table[: scores.shape[-1], : scores.shape[-1]]\n"
                "        else:\n    " + POSITION + "    " + DISTANCE,
            ),
            (
                STEPS,
                STEPS
                + "        table = (torch.arange(512)[:, None] - torch.arange(512)).abs()\n"
                + '        self.register_buffer("table", table, persistent=False)\n',
            ),
        ],
        check="test_graphs_over_lengths",
        says="wrong number of graphs",
    ),
]
