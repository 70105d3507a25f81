"""Answers to parameter_or_buffer that people write."""

from grader.authoring.specimen import Right, Works, Wrong

GAIN = "self.gain = nn.Parameter(torch.ones_like(mean))  # (channels,)"
MEAN = 'self.register_buffer("mean", mean.clone())'
STD = 'self.register_buffer("std", std.clone())'
RAMP = "torch.arange(1, time + 1, dtype=mean.dtype, device=mean.device) / time"
KEEP = 'self.register_buffer("ramp", ramp, persistent=False)'
RETURN = "return (x - self.mean) / self.std * self.gain * self.ramp[:, None]"

SPECIMENS = [
    Wrong(
        "a new ramp at each call, next to a buffer that is not used",
        edits=[
            (
                "        return (x - self.mean) / self.std * self.gain * self.ramp[:, None]\n",
                "        ramp = torch.arange(1, x.shape[-2] + 1, dtype=x.dtype, device=x.device) / x.shape[-2]\n"
                "        return (x - self.mean) / self.std * self.gain * ramp[:, None]\n",
            )
        ],
        check="test_ramp_is_used",
        says="forward makes a ramp of its own",
    ),
    Wrong(
        "everything is a parameter",
        edits=[
            (MEAN, "self.mean = nn.Parameter(mean.clone())"),
            (STD, "self.std = nn.Parameter(std.clone())"),
            (KEEP, "self.ramp = nn.Parameter(ramp)"),
        ],
        check="test_the_one_parameter",
        says="mean",
        rung="job",
    ),
    Wrong(
        "frozen parameters for the statistics",
        edits=[
            (MEAN, "self.mean = nn.Parameter(mean.clone(), requires_grad=False)"),
            (STD, "self.std = nn.Parameter(std.clone(), requires_grad=False)"),
        ],
        check="test_what_is_registered",
        rung="job",
    ),
    Wrong(
        "the gain as a buffer that requires a gradient",
        edits=[(GAIN, 'self.register_buffer("gain", torch.ones_like(mean).requires_grad_())')],
        check="test_the_one_parameter",
        rung="job",
    ),
    Wrong(
        "a gain that is cast after it was a parameter",
        edits=[(GAIN, "self.gain = nn.Parameter(torch.ones(len(mean))) * 1.0")],
        check="test_the_one_parameter",
        rung="job",
    ),
    Wrong(
        "a gain of zeros",
        edits=[("ones_like(mean)", "zeros_like(mean)")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "saves the ramp as well",
        edits=[(", persistent=False", "")],
        check="test_state_dict",
        says="ramp",
        rung="job",
    ),
    Wrong(
        "does not save the statistics",
        edits=[
            ("mean.clone())", "mean.clone(), persistent=False)"),
            ("std.clone())", "std.clone(), persistent=False)"),
        ],
        check="test_state_dict",
        says="mean",
        rung="job",
    ),
    Wrong(
        "a plain ramp, moved in forward",
        edits=[(KEEP, "self.ramp = ramp"), ("self.ramp[:, None]", "self.ramp.to(x)[:, None]")],
        check="test_moves_as_a_whole",
        rung="job",
    ),
    Wrong(
        "folds statistics into one factor, once",
        edits=[
            (STD, STD + "\n        self.inverse = 1 / std"),
            (RETURN, RETURN.replace("/ self.std", "* self.inverse")),
        ],
        check="test_saves_and_loads",
        rung="job",
    ),
    Wrong(
        "standardises under no_grad",
        edits=[
            (
                RETURN,
                "with torch.no_grad():\n            x = (x - self.mean) / self.std\n"
                "        return x * self.gain * self.ramp[:, None]",
            )
        ],
        check="test_gradients",
        rung="job",
    ),
    Wrong("the ramp along the channels", edits=[("[:, None]", "")], check="test_values", rung="job"),
    Wrong(
        "detach is no copy",
        edits=[("mean.clone()", "mean.detach()"), ("std.clone()", "std.detach()")],
        check="test_memory_of_its_own",
    ),
    Wrong(
        "a ramp made on the CPU",
        edits=[(", device=mean.device", "")],
        check="test_device_of_the_mean",
        says="ramp",
    ),
    Wrong(
        "a gain in float32, whatever the statistics are",
        edits=[("ones_like(mean)", "ones_like(mean, dtype=torch.float32)")],
        check="test_dtype_of_the_mean",
    ),
    Wrong(
        "loads leniently, so that nobody misses the gain either",
        edits=[
            (
                RETURN,
                RETURN
                + """

    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict(state_dict, strict=False, assign=assign)
""",
            )
        ],
        check="test_another_time",
    ),
    Works(
        "as tutorials write register_buffer",
        code="""
import torch
from torch import nn

class SensorHead(nn.Module):
    def __init__(self, mean, std, time):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.gain = nn.Parameter(torch.ones(len(mean)))
        self.register_buffer("ramp", torch.arange(1, time + 1) / time, persistent=False)

    def forward(self, x):
        return (x - self.mean) / self.std * self.gain * self.ramp[:, None]
""",
    ),
    Works(
        "cloned statistics, a ramp by linspace",
        code="""
import torch
from torch import nn

class SensorHead(nn.Module):
    def __init__(self, mean, std, time):
        super(SensorHead, self).__init__()
        self.gain = nn.Parameter(torch.ones(mean.shape[0]), requires_grad=True)
        self.register_buffer("std", std.clone().detach())
        self.register_buffer("mean", mean.clone().detach())
        self.register_buffer("ramp", torch.linspace(1 / time, 1, time), persistent=False)

    def forward(self, x):
        x = (x - self.mean) / self.std
        return x * self.gain * self.ramp.unsqueeze(-1)
""",
    ),
    Right(
        "a ramp from a list",
        edits=[
            (
                RAMP,
                "torch.tensor([step / time for step in range(1, time + 1)], dtype=mean.dtype, device=mean.device)",
            )
        ],
    ),
    Right(
        "nn.Buffer",
        code="""
import torch
from torch import nn

class SensorHead(nn.Module):
    def __init__(self, mean, std, time):
        super().__init__()
        self.mean, self.std = nn.Buffer(mean.detach().clone()), nn.Buffer(std.detach().clone())
        ramp = (torch.arange(1, time + 1, device=mean.device) / time).to(mean.dtype)
        self.ramp = nn.Buffer(ramp, persistent=False)
        self.gain = nn.Parameter(torch.ones_like(mean))

    def forward(self, x):
        return self.ramp[:, None] * self.gain * ((x - self.mean) / self.std)
""",
    ),
]
