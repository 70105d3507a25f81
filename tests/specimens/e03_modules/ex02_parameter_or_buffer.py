"""Answers to parameter_or_buffer that people write."""

from grader.authoring.specimen import Right, Wrong

GAIN = "self.gain = nn.Parameter(torch.ones_like(mean))  # (channels,)"
MEAN = 'self.register_buffer("mean", mean.clone())'
STD = 'self.register_buffer("std", std.clone())'
RAMP = "ramp = (torch.arange(1, time + 1, dtype=wide, device=mean.device) / time).to(mean.dtype)  # (time,)"
KEEP = 'self.register_buffer("ramp", ramp, persistent=False)'
FORWARD = """        standard = (x - self.mean) / self.std  # (*batch, time, channels)
        return standard * self.gain * self.ramp[:, None]
"""

SPECIMENS = [
    Wrong(
        "loads whatever is there",
        edits=[
            (
                FORWARD,
                FORWARD
                + """
    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict(state_dict, strict=False, assign=assign)
""",
            )
        ],
        check="test_saves_and_loads",
        says="head.load_state_dict(state) of a state without gain",
    ),
    Wrong(
        "moves to the device of x in forward, at each call",
        code="""
import torch
from torch import nn

class SensorHead(nn.Module):
    def __init__(self, mean, std, time):
        super().__init__()
        self.mean, self.std = mean.clone(), std.clone()
        self.gain = nn.Parameter(torch.ones_like(mean))
        self.ramp = (torch.arange(1, time + 1) / time).to(mean)

    def forward(self, x):
        return (x - self.mean.to(x)) / self.std.to(x) * self.gain * self.ramp.to(x)[:, None]
""",
        check="test_moves_as_a_whole",
        says="mean",
    ),
    Wrong(
        "everything is a parameter",
        edits=[
            (MEAN, "self.mean = nn.Parameter(mean.clone())"),
            (STD, "self.std = nn.Parameter(std.clone())"),
            (KEEP, "self.ramp = nn.Parameter(ramp)"),
        ],
        check="test_what_is_registered",
        says="mean (3,)",
    ),
    Wrong(
        "frozen parameters for the statistics",
        edits=[
            (MEAN, "self.mean = nn.Parameter(mean.clone(), requires_grad=False)"),
            (STD, "self.std = nn.Parameter(std.clone(), requires_grad=False)"),
        ],
        check="test_trains_the_gain_only",
        says="mean",
    ),
    Wrong(
        "a frozen gain",
        edits=[(GAIN, "self.gain = nn.Parameter(torch.ones_like(mean), requires_grad=False)")],
        check="test_what_is_registered",
        says="does not require",
    ),
    Wrong(
        "the gain as a buffer that requires a gradient",
        edits=[(GAIN, 'self.register_buffer("gain", torch.ones_like(mean).requires_grad_())')],
        check="test_what_is_registered",
        says="gain",
    ),
    Wrong(
        "a gain that is cast after it was a parameter",
        edits=[(GAIN, "self.gain = nn.Parameter(torch.ones(len(mean), dtype=torch.float64)).to(mean)")],
        check="test_what_is_registered",
        says="gain",
    ),
    Wrong(
        "the gain in float32, whatever the statistics are",
        edits=[(GAIN, "self.gain = nn.Parameter(torch.ones(len(mean), device=mean.device))")],
        check="test_what_is_registered",
        says="gain",
    ),
    Wrong(
        "a gain of zeros",
        edits=[(GAIN, "self.gain = nn.Parameter(torch.zeros_like(mean))")],
        check="test_what_is_registered",
    ),
    Wrong(
        "one gain for all channels",
        edits=[(GAIN, "self.gain = nn.Parameter(torch.ones((), dtype=mean.dtype, device=mean.device))")],
        check="test_what_is_registered",
        says="gain ()",
    ),
    Wrong(
        "a learned standard deviation",
        edits=[(STD, "self.std = nn.Parameter(std.clone())")],
        check="test_trains_the_gain_only",
        says="std",
    ),
    Wrong(
        "saves the ramp as well",
        edits=[(KEEP, 'self.register_buffer("ramp", ramp)')],
        check="test_saves_and_loads",
    ),
    Wrong(
        "does not save the statistics",
        edits=[(MEAN, 'self.register_buffer("mean", mean.clone(), persistent=False)')],
        check="test_what_is_registered",
        says="mean",
    ),
    Wrong(
        "a plain ramp",
        edits=[(KEEP, "self.ramp = ramp")],
        check="test_what_is_registered",
        says="ramp",
    ),
    Wrong(
        "a plain ramp, left on the CPU",
        edits=[(KEEP, "self.ramp = ramp")],
        check="test_moves_as_a_whole",
        says="ramp",
    ),
    Wrong(
        "a ramp in float32",
        edits=[(RAMP, "ramp = torch.arange(1, time + 1, device=mean.device) / time")],
        check="test_what_is_registered",
        says="ramp",
    ),
    Wrong(
        "a ramp made on the CPU",
        edits=[(RAMP, "ramp = torch.arange(1, time + 1, dtype=mean.dtype) / time")],
        check="test_moves_as_a_whole",
        says="ramp",
    ),
    Wrong(
        "a ramp from 0",
        edits=[(RAMP, "ramp = torch.arange(time, dtype=mean.dtype, device=mean.device) / time")],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "a new ramp at each call, next to a buffer that is not used",
        edits=[
            (
                FORWARD,
                """        ramp = torch.arange(1, x.shape[-2] + 1, dtype=x.dtype, device=x.device) / x.shape[-2]
        return (x - self.mean) / self.std * self.gain * ramp[:, None]
""",
            )
        ],
        check="test_buffers_are_used",
    ),
    Wrong(
        "registers the caller's tensors themselves",
        edits=[(MEAN, 'self.register_buffer("mean", mean)'), (STD, 'self.register_buffer("std", std)')],
        check="test_memory_of_its_own",
        says="memory",
    ),
    Wrong(
        "detach is no copy",
        edits=[(STD, 'self.register_buffer("std", std.detach())')],
        check="test_memory_of_its_own",
        says="std",
    ),
    Wrong(
        "a buffer for show; forward uses the plain attribute beside it",
        edits=[
            (MEAN, MEAN + "\n        self._mean = mean.clone()"),
            ("(x - self.mean)", "(x - self._mean)"),
        ],
        check="test_saves_and_loads",
    ),
    Wrong(
        "folds statistics and gain into one factor, once",
        edits=[
            (KEEP, KEEP + "\n        self.register_buffer('_factor', 1 / std, persistent=False)"),
            ("(x - self.mean) / self.std", "(x - self.mean) * self._factor"),
        ],
        check="test_what_is_registered",
    ),
    Wrong(
        "cuts the gain off",
        edits=[("standard * self.gain *", "standard * self.gain.detach() *")],
        check="test_other_gains",
        says="gain",
    ),
    Wrong(
        "standardises under no_grad",
        edits=[
            (
                "        standard = (x - self.mean) / self.std  # (*batch, time, channels)\n",
                "        with torch.no_grad():\n            standard = (x - self.mean) / self.std\n",
            )
        ],
        check="test_other_gains",
    ),
    Wrong(
        "a head for evaluation only standardises",
        edits=[
            (
                "        return standard * self",
                "        if not self.training:\n            return standard\n        return standard * self",
            )
        ],
        check="test_other_gains",
    ),
    Wrong(
        "standardises in place",
        edits=[("standard = (x - self.mean) / self.std", "standard = x.sub_(self.mean).div_(self.std)")],
        check="test_any_leading_dimensions",
        says="changes its input x",
    ),
    Wrong(
        "multiplies by the standard deviation",
        edits=[("(x - self.mean) / self.std", "(x - self.mean) * self.std")],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "the ramp along the channels",
        edits=[("self.ramp[:, None]", "self.ramp[None, :]")],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "the tensors in a dict of one's own",
        edits=[
            (MEAN, "self.stats = {'mean': mean.clone(), 'std': std.clone()}"),
            (STD, ""),
            ("(x - self.mean) / self.std", "(x - self.stats['mean']) / self.stats['std']"),
        ],
        check="test_what_is_registered",
        says="mean",
    ),
    Wrong(
        "back to float32 in forward",
        edits=[("standard = (x - self.mean)", "standard = (x.float() - self.mean)")],
        check="test_casts_as_a_whole",
    ),
    Wrong(
        "clamps small deviations",
        edits=[("/ self.std  #", "/ self.std.clamp(min=1e-6)  #")],
        check="test_deviations_of_any_size",
    ),
    Wrong(
        "adds an epsilon to the deviation",
        edits=[("/ self.std  #", "/ (self.std + 1e-12)  #")],
        check="test_deviations_of_any_size",
    ),
    Wrong(
        "subtracts in place where no gradient is wanted",
        edits=[
            (
                "        standard = (x - self.mean) /",
                "        x = x - self.mean if torch.is_grad_enabled() else x.sub_(self.mean)\n        standard = x /",
            )
        ],
        check="test_any_leading_dimensions",
        says="changes its input x",
    ),
    Right(
        "a ramp from a list, moved once",
        edits=[(RAMP, "ramp = mean.new_tensor([(step + 1) / time for step in range(time)])")],
    ),
    Right(
        "nn.Buffer",
        edits=[
            (MEAN, "self.mean = nn.Buffer(mean.detach().clone())"),
            (STD, "self.std = nn.Buffer(torch.empty_like(std).copy_(std))"),
            (KEEP, "self.ramp = nn.Buffer(ramp, persistent=False)"),
        ],
    ),
    Right(
        "registered in a loop; linspace; everything in another order",
        code="""
import copy
import torch
from torch import nn

class SensorHead(nn.Module):
    def __init__(self, mean, std, time):
        super().__init__()
        options = dict(dtype=mean.dtype, device=mean.device)
        for name, values in dict(std=std, mean=mean).items():
            self.register_buffer(name, copy.deepcopy(values))
        self.register_buffer("ramp", torch.linspace(1 / time, 1, time, dtype=torch.float64).to(mean), persistent=False)
        self.register_parameter("gain", nn.Parameter(torch.full(mean.shape, 1.0, **options)))
        if time == 1:
            self.ramp.fill_(1)

    def forward(self, x):
        factor = self.ramp.unsqueeze(-1) * (self.gain / self.std)
        return (x - self.mean) * factor
""",
    ),
    Wrong(
        "leaves the ramp out in methods that a larger model does not call",
        edits=[
            (KEEP, 'self.register_buffer("ramp", ramp)'),
            (
                FORWARD,
                FORWARD
                + """
    def state_dict(self, *args, **kwargs):
        state = super().state_dict(*args, **kwargs)
        del state[kwargs.get("prefix", "") + "ramp"]
        return state

    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict({**state_dict, "ramp": self.ramp}, strict, assign)
""",
            ),
        ],
        check="test_saves_and_loads",
        says="ramp",
    ),
    Wrong(
        "loads leniently, so that nobody misses the ramp, nor the gain",
        edits=[
            (KEEP, 'self.register_buffer("ramp", ramp)'),
            (
                FORWARD,
                FORWARD
                + """
    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        del destination[prefix + "ramp"]

    def _load_from_state_dict(self, state, prefix, metadata, strict, missing, unexpected, errors):
        super()._load_from_state_dict(state, prefix, metadata, False, [], [], errors)
""",
            ),
        ],
        check="test_saves_and_loads",
        says="without 0.gain",
    ),
    Right(
        "None first, then assigned",
        edits=[
            (MEAN, 'self.register_buffer("mean", None)\n        self.mean = mean * 1'),
            ("/ self.std  #", "/ self.get_buffer('std')  #"),
        ],
    ),
    Wrong(
        "counts in the dtype of the mean",
        edits=[(RAMP, RAMP.replace("wide", "mean.dtype"))],
        check="test_long_ramp",
    ),
    Wrong(
        "adds up ones in the dtype of the mean",
        edits=[
            (
                RAMP,
                "ramp = torch.ones_like(mean[:1]).expand(time).clone()\n        for i in range(1, min(time, 300)):\n            ramp[i] = ramp[i - 1] + 1\n        ramp = ramp / time",
            )
        ],
        check="test_long_ramp",
    ),
    Wrong(
        "keeps the ramp as a column from its first call on",
        edits=[
            (
                "        return standard * self.gain * self.ramp[:, None]",
                """        kept = self.__dict__.get("column")
        if kept is None or (kept.dtype, kept.device) != (x.dtype, x.device):
            kept = self.__dict__["column"] = self.ramp[:, None].clone()
        return standard * self.gain * kept""",
            )
        ],
        check="test_buffers_are_used",
        says="replaced",
    ),
]
