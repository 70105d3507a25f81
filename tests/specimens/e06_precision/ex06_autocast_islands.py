"""Answers to autocast_islands that people write."""

from grader.authoring.specimen import Right, Works, Wrong

REGION = "        with torch.autocast(x.device.type, enabled=False):\n"
WIDE = "            wide = {name: _widen(value) for name, value in kwargs.items()}\n"
RUN = "            return self.block(_widen(x), *map(_widen, args), **wide)\n"
NARROW = "    narrow = isinstance(value, Tensor) and value.dtype in (torch.float16, torch.bfloat16)\n"
BLOCK = "        self.block = block\n"
BODY = REGION + WIDE + RUN


def instead(body):
    return [(BODY, "".join(f"        {line}\n" for line in body.strip("\n").split("\n")))]


SPECIMENS = [
    Wrong(
        "runs in 16 bits, and converts the result",
        edits=[(BODY, "        return self.block(x, *args, **kwargs).float()\n")],
        check="test_values",
        says="the block runs in 16 bits",
        rung="job",
    ),
    Wrong(
        "switches autocast off and converts nothing",
        edits=[(NARROW, "    narrow = False\n")],
        check="test_in_float32",
        says="dtype",
        rung="job",
    ),
    Wrong(
        "switches CUDA's autocast off, wherever x lies",
        edits=[("x.device.type", '"cuda"')],
        check="test_in_float32",
        says="bfloat16",
        rung="job",
    ),
    Wrong(
        "runs the block after the region's end",
        edits=instead("""
with torch.autocast(x.device.type, enabled=False):
    x = _widen(x)
return self.block(x, *args, **kwargs)
"""),
        check="test_in_float32",
        rung="job",
    ),
    Wrong(
        "bfloat16 only",
        edits=[("(torch.float16, torch.bfloat16)", "(torch.bfloat16,)")],
        check="test_in_float32",
        rung="job",
    ),
    Wrong(
        "a result in the dtype of x",
        edits=[(RUN, RUN.replace("**wide)", "**wide).to(x.dtype)"))],
        check="test_worked_example",
        says="bfloat16",
        rung="job",
    ),
    Wrong(
        "cuts the gradient of x",
        edits=[("_widen(x)", "_widen(x.detach())")],
        check="test_gradients",
        says="for x",
        rung="job",
    ),
    Wrong(
        "runs without a graph",
        edits=[(REGION, "        with torch.no_grad(), torch.autocast(x.device.type, enabled=False):\n")],
        check="test_gradients",
        says="no gradient flows",
        rung="job",
    ),
    Wrong(
        "switches off for good",
        edits=[(REGION, "        torch.set_autocast_enabled(x.device.type, False)\n" + REGION)],
        check="test_the_region_goes_on",
        says="what follows the island",
        rung="job",
    ),
    Wrong(
        "the block is in a list",
        edits=[(BLOCK, "        self.blocks = [block]\n"), ("self.block(", "self.blocks[0](")],
        check="test_registered",
        rung="job",
    ),
    Wrong(
        "calls forward: no hooks",
        edits=[("self.block(_widen", "self.block.forward(_widen")],
        check="test_part_of_a_model",
        says="hooks",
        rung="job",
    ),
    Wrong(
        "widens no keyword arguments",
        edits=[(WIDE, "            wide = kwargs\n")],
        check="test_other_arguments",
        says="keyword",
    ),
    Wrong(
        "makes every tensor float32",
        edits=[(NARROW, "    narrow = isinstance(value, Tensor)\n")],
        check="test_all_else_as_it_is",
        says="float32",
    ),
    Wrong(
        "a result in float32",
        edits=[("return self.block(", "return _widen(self.block("), ("**wide)", "**wide))")],
        check="test_result_as_it_is",
        says="float16",
    ),
    Wrong(
        "only in a region",
        edits=[
            (
                REGION,
                "        if not torch.is_autocast_enabled(x.device.type):\n"
                "            return self.block(x, *args, **kwargs)\n" + REGION,
            )
        ],
        check="test_outside_of_a_region",
    ),
    Wrong(
        "switches off by hand, without a finally",
        edits=instead("""
kind = x.device.type
before = torch.is_autocast_enabled(kind)
torch.set_autocast_enabled(kind, False)
wide = {name: _widen(value) for name, value in kwargs.items()}
result = self.block(_widen(x), *map(_widen, args), **wide)
torch.set_autocast_enabled(kind, before)
return result
"""),
        check="test_restored_after_an_error",
        says="after an error",
    ),
    Wrong(
        "the device of the parameters, of which there may be none",
        edits=[("x.device.type", "next(self.block.parameters()).device.type")],
        check="test_without_parameters",
    ),
    Wrong(
        "switches the CPU's autocast off, wherever x lies",
        edits=[("x.device.type", '"cpu"')],
        check="test_on_a_device",
    ),
    Works(
        "as Hugging Face's rotary embeddings do it",
        code="""
import torch
from torch import nn


class Float32Island(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x, *args, **kwargs):
        device_type = x.device.type if isinstance(x.device.type, str) and x.device.type != "mps" else "cpu"
        with torch.autocast(device_type=device_type, enabled=False):
            return self.block(x.float(), *args, **kwargs)
""",
    ),
    Works(
        "as PyTorch's pages on autocast have it, for x alone",
        code="""
import torch


class Float32Island(torch.nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        with torch.autocast(device_type="cuda", enabled=False), torch.autocast(device_type="cpu", enabled=False):
            x = x.float()
            out = self.block(x)
        return out
""",
    ),
    Right(
        "autocast as a decorator, to instead of float",
        code="""
import torch
from torch import nn


class Float32Island(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.add_module("block", block)

    @staticmethod
    def _cast(v):
        if torch.is_tensor(v) and v.is_floating_point() and v.element_size() == 2:
            return v.to(dtype=torch.float32)
        return v

    def forward(self, *args, **kwargs):
        args = tuple(self._cast(a) for a in args)
        kwargs = dict(zip(kwargs, map(self._cast, kwargs.values())))
        off = torch.amp.autocast(device_type=args[0].device.type, enabled=False)
        return off(self.block.__call__)(*args, **kwargs)
""",
    ),
    Right(
        "by hand, with a finally",
        edits=instead("""
kind = x.device.type
before = torch.is_autocast_enabled(kind)
torch.set_autocast_enabled(kind, False)
try:
    wide = {name: _widen(value) for name, value in kwargs.items()}
    return self.block(_widen(x), *[_widen(value) for value in args], **wide)
finally:
    torch.set_autocast_enabled(kind, before)
"""),
    ),
]
