"""Answers to autocast_islands that people write."""

from grader.authoring.specimen import Right, Wrong

REGION = "        with torch.autocast(x.device.type, enabled=False):\n"
WIDE = "            wide = {name: _widen(value) for name, value in kwargs.items()}\n"
RUN = "            return self.block(_widen(x), *map(_widen, args), **wide)\n"
CAST = "    return value.float() if isinstance(value, Tensor) and value.dtype in _NARROW else value\n"
BLOCK = "        self.block = block\n"
BODY = REGION + WIDE + RUN


def instead(body):
    return [(BODY, "".join(f"        {line}\n" for line in body.strip("\n").split("\n")))]


SPECIMENS = [
    Wrong(
        "switches autocast off where the block's parameters lie",
        edits=[(REGION, REGION.replace("x.device", "next(self.block.parameters(), x).device"))],
        check="test_on_a_device",
        says="its parameter on the CPU",
    ),
    Wrong(
        "cuts the graph of what comes by name, but for leaves",
        edits=[
            (
                WIDE,
                WIDE.replace(
                    "_widen(value)",
                    "_widen(value.detach() if isinstance(value, Tensor) and not value.is_leaf else value)",
                ),
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "asks whatever has a dtype of 16 bits for its float()",
        edits=[(CAST, '    return value.float() if getattr(value, "dtype", None) in _NARROW else value\n')],
        check="test_arguments",
    ),
    Wrong(
        "makes the block's tensors of 16 bits float32, buffers, too",
        edits=[
            (
                BLOCK,
                BLOCK
                + """        for part in block.modules():
            for name, buffer in part.named_buffers(recurse=False):
                setattr(part, name, _widen(buffer))
""",
            )
        ],
        check="test_part_of_a_model",
        says="a buffer",
    ),
    Wrong(
        "in evaluation mode and outside of every region nothing is cast",
        edits=[
            (
                REGION,
                "        if not (self.training or torch.is_autocast_enabled(x.device.type)):\n"
                "            return self.block(x, *args, **kwargs)\n" + REGION,
            )
        ],
        check="test_all_in_float32",
    ),
    Wrong(
        "single numbers stay in 16 bits",
        edits=[(CAST, CAST.replace("in _NARROW", "in _NARROW and value.ndim"))],
        check="test_arguments",
    ),
    Wrong(
        "the device of the last tensor",
        edits=[
            (
                REGION,
                REGION.replace(
                    "x.device",
                    "[t for t in (x, *args, *kwargs.values()) if isinstance(t, Tensor)][-1].device",
                ),
            )
        ],
        check="test_on_a_device",
        says="on the CPU",
    ),
    Wrong(
        "copies what is float32 already",
        edits=[
            (CAST, CAST.replace("else value", "else value.clone() if isinstance(value, Tensor) else value"))
        ],
        check="test_arguments",
        says="a copy",
    ),
    Wrong(
        "makes the block float32, just in case",
        edits=[(BLOCK, "        self.block = block.float()\n")],
        check="test_part_of_a_model",
        says="a buffer",
    ),
    Wrong(
        "a region of float32, switched off",
        edits=[(REGION, REGION.replace("enabled", "dtype=torch.float32, enabled"))],
        check="test_default_regions_inside",
    ),
    Wrong(
        "a region of bfloat16, switched off",
        edits=[(REGION, REGION.replace("enabled", "dtype=torch.bfloat16, enabled"))],
        check="test_default_regions_inside",
    ),
    Wrong(
        "one region for all calls",
        edits=[
            (BLOCK, BLOCK + '        self.off = torch.autocast("cpu", enabled=False)\n'),
            (REGION, REGION.replace("with", 'with self.off if x.device.type == "cpu" else')),
        ],
        check="test_an_island_in_itself",
        says="in itself",
    ),
    Wrong(
        "the device of the parameters",
        edits=[(REGION, REGION.replace("x.device", "next(self.block.parameters(), torch.empty(0)).device"))],
        check="test_on_a_device",
        says="without parameters",
    ),
    Wrong(
        "x by name, too",
        edits=[('x: Shaped[Tensor, "*shape"], /, *args', 'x: Shaped[Tensor, "*shape"], *args')],
        check="test_arguments",
    ),
    Wrong(
        "in evaluation mode",
        edits=[(REGION, "        self.block.eval()\n" + REGION)],
        check="test_part_of_a_model",
        says="of the block after a call",
    ),
    Wrong(
        "lists become tuples",
        edits=[
            (
                RUN,
                RUN.replace("return self", "result = self")
                + "            return tuple(result) if isinstance(result, list) else result\n",
            )
        ],
        check="test_result_as_it_is",
    ),
    Wrong(
        "switches autocast off and converts nothing",
        edits=[(CAST, "    return value\n")],
        check="test_arguments",
    ),
    Wrong(
        "converts, and leaves autocast on",
        edits=[(REGION, "        if True:\n")],
        check="test_all_in_float32",
        says="dtype torch.bfloat16",
    ),
    Wrong(
        "switches CUDA's autocast off, wherever x lies",
        edits=[(REGION, REGION.replace("x.device.type", '"cuda"'))],
        check="test_all_in_float32",
    ),
    Wrong(
        "switches the CPU's autocast off, wherever x lies",
        edits=[(REGION, REGION.replace("x.device.type", '"cpu"'))],
        check="test_on_a_device",
    ),
    Wrong(
        "CUDA where there is one, else the CPU",
        edits=[(REGION, REGION.replace("x.device.type", '"cuda" if torch.cuda.is_available() else "cpu"'))],
        check="test_on_a_device",
    ),
    Wrong(
        "the device of the parameters, of which there may be none",
        edits=[(REGION, REGION.replace("x.device", "next(self.block.parameters()).device"))],
        check="test_arguments",
    ),
    Wrong(
        "the device that the block was built on",
        edits=[
            (BLOCK, BLOCK + "        self.kind = next((p.device.type for p in block.parameters()), 'cpu')\n"),
            (REGION, REGION.replace("x.device.type", "self.kind")),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "the device of the first call",
        edits=[
            (BLOCK, BLOCK + "        self.kind = None\n"),
            (
                REGION,
                "        self.kind = self.kind or x.device.type\n"
                + REGION.replace("x.device.type", "self.kind"),
            ),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "widens after the region's end",
        edits=instead("""
with torch.autocast(x.device.type, enabled=False):
    x, args = _widen(x), [_widen(value) for value in args]
    wide = {name: _widen(value) for name, value in kwargs.items()}
return self.block(x, *args, **wide)
"""),
        check="test_all_in_float32",
    ),
    Wrong(
        "only in a region: PyTorch's custom_fwd",
        edits=instead("""
kind = x.device.type
run = torch.amp.custom_fwd(lambda ctx, *args: self.block(*args, **kwargs), device_type=kind, cast_inputs=torch.float32)
kwargs = {name: _widen(value) for name, value in kwargs.items()}
class Context:
    pass
return run(Context(), x, *args)
"""),
        check="test_all_in_float32",
    ),
    Wrong(
        "only in a region, by hand",
        edits=instead("""
if not torch.is_autocast_enabled(x.device.type):
    return self.block(x, *args, **kwargs)
with torch.autocast(x.device.type, enabled=False):
    wide = {name: _widen(value) for name, value in kwargs.items()}
    return self.block(_widen(x), *map(_widen, args), **wide)
"""),
        check="test_arguments",
    ),
    Wrong(
        "bfloat16 only",
        edits=[("_NARROW = (torch.float16, torch.bfloat16)", "_NARROW = (torch.bfloat16,)")],
        check="test_arguments",
    ),
    Wrong(
        "float16 only",
        edits=[("_NARROW = (torch.float16, torch.bfloat16)", "_NARROW = (torch.float16,)")],
        check="test_arguments",
    ),
    Wrong(
        "only the dtype of the region",
        edits=[
            (
                CAST,
                '    narrow = torch.get_autocast_dtype("cpu")\n    return value.float() if isinstance(value, Tensor) and value.dtype == narrow else value\n',
            )
        ],
        check="test_arguments",
    ),
    Wrong(
        "float64 as well",
        edits=[
            (
                CAST,
                "    return value.float() if isinstance(value, Tensor) and value.is_floating_point() else value\n",
            )
        ],
        check="test_arguments",
        says="float64",
    ),
    Wrong(
        "every tensor",
        edits=[(CAST, "    return value.float() if isinstance(value, Tensor) else value\n")],
        check="test_arguments",
    ),
    Wrong(
        "to float64, to be on the safe side",
        edits=[(CAST, CAST.replace("value.float()", "value.double()"))],
        check="test_arguments",
    ),
    Wrong(
        "the first argument only",
        edits=[(RUN, RUN.replace("*map(_widen, args)", "*args"))],
        check="test_arguments",
        says="positional",
    ),
    Wrong(
        "no keyword arguments",
        edits=[(WIDE, "            wide = kwargs\n")],
        check="test_arguments",
        says="keyword",
    ),
    Wrong("drops keyword arguments", edits=[(RUN, RUN.replace(", **wide", ""))], check="test_arguments"),
    Wrong(
        "in lists, too",
        edits=[
            (
                CAST,
                "    if isinstance(value, list):\n        return [_widen(item) for item in value]\n" + CAST,
            )
        ],
        check="test_arguments",
    ),
    Wrong(
        "in everything that nests",
        edits=[
            (
                CAST,
                "    from torch.utils._pytree import tree_map\n    return tree_map(lambda v: v.float() if isinstance(v, Tensor) and v.dtype in _NARROW else v, value)\n",
            )
        ],
        check="test_arguments",
    ),
    Wrong(
        "drops what is no tensor",
        edits=[
            (RUN, RUN.replace("*map(_widen, args)", "*[_widen(a) for a in args if isinstance(a, Tensor)]"))
        ],
        check="test_arguments",
    ),
    Wrong(
        "a result in the dtype of x",
        edits=[
            (
                RUN,
                RUN.replace("return self.block(", "result = self.block(")
                + "        return result.to(x.dtype) if isinstance(result, Tensor) else result\n",
            )
        ],
        check="test_result_as_it_is",
    ),
    Wrong(
        "a result in float32",
        edits=[
            (
                RUN,
                RUN.replace("return self.block(", "return _widen(self.block(").replace("**wide)", "**wide))"),
            )
        ],
        check="test_result_as_it_is",
    ),
    Wrong(
        "results must be tensors",
        edits=[
            (
                RUN,
                RUN.replace("return self.block(", "result = self.block(")
                + "        return result.contiguous()\n",
            )
        ],
        check="test_result_as_it_is",
    ),
    Wrong(
        "rounds the arguments to the dtype of the region",
        edits=[
            (RUN, RUN.replace("_widen(x)", "_widen(x).to(torch.get_autocast_dtype(x.device.type)).float()"))
        ],
        check="test_arguments",
    ),
    Wrong(
        "softmax and sums as they come, products in float32",
        edits=instead("""
class NoProducts(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func.__name__ in ("softmax", "cumsum"):
            return func(_narrow(args[0]), *args[1:], **(kwargs or {})).float()
        return func(*args, **(kwargs or {}))
def _narrow(t):
    return t.to(x.dtype) if t.dtype == torch.float32 else t
with torch.autocast(x.device.type, enabled=False), NoProducts():
    wide = {name: _widen(value) for name, value in kwargs.items()}
    return self.block(_widen(x), *map(_widen, args), **wide)
"""),
        check="test_near_a_float64_run",
    ),
    Wrong(
        "cuts the gradient of x",
        edits=[(RUN, RUN.replace("_widen(x)", "_widen(x).detach()"))],
        check="test_gradients",
        says="x",
    ),
    Wrong(
        "widens the data",
        edits=[(CAST, CAST.replace("value.float()", "value.data.float()"))],
        check="test_gradients",
    ),
    Wrong(
        "runs without a graph",
        edits=[(REGION, "        with torch.no_grad(), torch.autocast(x.device.type, enabled=False):\n")],
        check="test_gradients",
    ),
    Wrong(
        "cuts the gradient of keyword arguments",
        edits=[
            (
                WIDE,
                WIDE.replace(
                    "_widen(value)",
                    "_widen(value).detach() if isinstance(value, Tensor) and value.is_floating_point() else value",
                ),
            )
        ],
        check="test_gradients",
        says="shift",
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
        check="test_autocast_is_restored",
        says="after an error",
    ),
    Wrong(
        "switches on again where it was off",
        edits=instead("""
kind = x.device.type
torch.set_autocast_enabled(kind, False)
try:
    wide = {name: _widen(value) for name, value in kwargs.items()}
    return self.block(_widen(x), *map(_widen, args), **wide)
finally:
    torch.set_autocast_enabled(kind, True)
"""),
        check="test_autocast_is_restored",
        says="outside of a region",
    ),
    Wrong(
        "switches off for good",
        edits=[(REGION, "        torch.set_autocast_enabled(x.device.type, False)\n" + REGION)],
        check="test_autocast_is_restored",
    ),
    Wrong(
        "opens the region again with the default dtype",
        edits=instead("""
with torch.autocast(x.device.type, enabled=False):
    wide = {name: _widen(value) for name, value in kwargs.items()}
    result = self.block(_widen(x), *map(_widen, args), **wide)
if torch.is_autocast_enabled(x.device.type):
    torch.set_autocast_dtype(x.device.type, torch.bfloat16)
return result
"""),
        check="test_autocast_is_restored",
    ),
    Wrong(
        "forbids regions inside the block",
        edits=instead("""
kind, autocast = x.device.type, torch.autocast
class Off(autocast):
    def __init__(self, device_type, *args, **kwargs):
        super().__init__(device_type, enabled=False)
torch.autocast = Off
try:
    with Off(kind):
        wide = {name: _widen(value) for name, value in kwargs.items()}
        return self.block(_widen(x), *map(_widen, args), **wide)
finally:
    torch.autocast = autocast
"""),
        check="test_regions_and_islands_nest",
    ),
    Wrong(
        "asks for autocast when it is built",
        edits=[
            (BLOCK, BLOCK + "        self.on = torch.is_autocast_enabled('cpu')\n"),
            (
                REGION,
                REGION.replace(
                    "enabled=False", "enabled=torch.is_autocast_enabled(x.device.type) and not self.on"
                ),
            ),
        ],
        check="test_all_in_float32",
    ),
    Wrong(
        "one region for the CPU, built once",
        edits=[
            (BLOCK, BLOCK + "        self.off = torch.autocast('cpu', enabled=False)\n"),
            (REGION, "        with self.off:\n"),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "keeps the last input to look at",
        edits=[(REGION, "        self.last = x\n" + REGION)],
        check="test_nothing_is_remembered",
        says="in memory",
    ),
    Wrong(
        "the block is in a list",
        edits=[
            (BLOCK, "        self.blocks = [block]\n"),
            (RUN, RUN.replace("self.block", "self.blocks[0]")),
        ],
        check="test_part_of_a_model",
    ),
    Wrong(
        "another name for the block",
        edits=[(BLOCK, "        self.module = block\n"), (RUN, RUN.replace("self.block", "self.module"))],
        check="test_part_of_a_model",
    ),
    Wrong(
        "keeps a copy of the block",
        edits=[(BLOCK, "        import copy\n        self.block = copy.deepcopy(block)\n")],
        check="test_part_of_a_model",
    ),
    Wrong(
        "calls forward: no hooks",
        edits=[(RUN, RUN.replace("self.block(", "self.block.forward("))],
        check="test_part_of_a_model",
        says="hooks",
    ),
    Wrong(
        "converts the block in each call",
        edits=[(RUN, "            self.block.float()\n" + RUN)],
        check="test_part_of_a_model",
    ),
    Wrong(
        "converts the block to float64",
        edits=[
            (BLOCK, "        self.block = block.double()\n"),
            (CAST, CAST.replace("value.float()", "value.double()")),
        ],
        check="test_part_of_a_model",
    ),
    Wrong(
        "runs the block twice",
        edits=[(RUN, RUN.replace("return ", "") + RUN)],
        check="test_arguments",
        says="number of times",
    ),
    Wrong(
        "brings x to the CPU",
        edits=[(RUN, RUN.replace("_widen(x)", "_widen(x.cpu())"))],
        check="test_on_a_device",
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
    Wrong(
        "widens all that is narrower than float32",
        edits=[
            (
                "value.dtype in _NARROW",
                "value.is_floating_point() and value.itemsize < 4",
            )
        ],
        check="test_arguments",
        says="float8",
    ),
    Wrong(
        "no gradients in evaluation mode",
        edits=[
            (
                REGION,
                REGION.replace(
                    ":\n", ", torch.set_grad_enabled(self.training and torch.is_grad_enabled()):\n"
                ).replace("enabled=False),", "enabled=False),"),
            )
        ],
        check="test_gradients",
        says="evaluation mode",
    ),
    Wrong(
        "widens the first two arguments",
        edits=[(RUN, RUN.replace("*map(_widen, args)", "*map(_widen, args[:1]), *args[1:]"))],
        check="test_arguments",
    ),
    Wrong(
        "remembers what it has made of a tensor",
        edits=[
            (
                CAST,
                "    if not isinstance(value, Tensor) or value.requires_grad:\n"
                + CAST.replace("    return", "        return")
                + "    if not hasattr(value, '_wide'):\n        value._wide = value.float() if value.dtype in _NARROW else value\n    return value._wide\n",
            )
        ],
        check="test_arguments",
        says="has changed since",
    ),
    Wrong(
        "takes the one result out of its tuple",
        edits=[
            (
                RUN,
                RUN.replace("return", "result =")
                + "        alone = isinstance(result, tuple) and len(result) == 1\n"
                + "        return result[0] if alone else result\n",
            )
        ],
        check="test_result_as_it_is",
    ),
    Wrong(
        "switches the cache of casts off with autocast, for regions inside too",
        edits=[("enabled=False)", "enabled=False, cache_enabled=False)")],
        check="test_default_regions_inside",
        says="is_autocast_cache_enabled",
    ),
    Wrong(
        "puts autocast back after errors, but not after an interrupt",
        edits=instead(
            """
kind = x.device.type
before = torch.is_autocast_enabled(kind)
torch.set_autocast_enabled(kind, False)
try:
    wide = {name: _widen(value) for name, value in kwargs.items()}
    result = self.block(_widen(x), *map(_widen, args), **wide)
except Exception:
    torch.set_autocast_enabled(kind, before)
    raise
torch.set_autocast_enabled(kind, before)
return result
"""
        ),
        check="test_autocast_is_restored",
        says="KeyboardInterrupt",
    ),
]
