"""Answers to dropout that people write."""

from grader.authoring.specimen import Right, Wrong

EVAL = """        if not self.training:
            return x
"""
RATE = "        # float32 whatever x is: a draw in bfloat16 is too coarse for small p\n"
DRAW = "dropped = torch.rand(x.shape, device=x.device) < self.p  # (*shape)"
SCALE = "scale = 0.0 if self.p == 1 else 1 / (1 - self.p)"
RETURN = "return (x * scale).masked_fill(dropped, 0.0)"
BODY = f"{EVAL}{RATE}        {DRAW}\n        {SCALE}\n        {RETURN}\n"
GUARD = """        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p is a probability, from 0 to 1, but it is {p}")
"""


def draw(code):
    return [(DRAW, code)]


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "1 - p is computed in the dtype of x",
        edits=[("1 / (1 - self.p)", "1 / (1 - x.new_full((), self.p))")],
        check="test_dtypes",
        says="0.99",
    ),
    Wrong(
        "a single number becomes float32",
        edits=[
            (
                "return (x * scale).masked_fill(dropped, 0.0)",
                "return torch.where(dropped, torch.zeros(()), x * scale)",
            )
        ],
        check="test_dtypes",
        says="single number",
    ),
    Wrong(
        "looks for p = 1 when it is made, but not later: 0 times infinity in the gradient",
        edits=[
            ("        self.p = p\n", "        self.p = p\n        self.nothing_stays = p == 1\n"),
            (
                "        scale = 0.0 if self.p == 1 else 1 / (1 - self.p)\n        return (x * scale).masked_fill(dropped, 0.0)",
                "        if self.nothing_stays:\n            return x * 0\n        return (x / (1 - self.p)).masked_fill(dropped, 0.0)",
            ),
        ],
        check="test_p_set_later",
        says="gradient",
    ),
    Wrong(
        "takes inference_mode for evaluation mode",
        edits=[("if not self.training:", "if not self.training or torch.is_inference_mode_enabled():")],
        check="test_modes_of_a_model",
        says="inference_mode",
    ),
    Wrong(
        "compares with p in the dtype of x, where nearly 1 is 1",
        edits=draw(
            "dropped = torch.rand(x.shape, device=x.device) < torch.tensor(self.p, dtype=x.dtype).float()"
        ),
        check="test_dtypes",
        says="0.9995",
    ),
    Wrong(
        "drops in evaluation, and not in training",
        edits=[("if not self.training:", "if self.training:")],
        check="test_modes_of_a_model",
    ),
    Wrong("drops always", edits=[(EVAL, "")], check="test_evaluation"),
    Wrong(
        "a mode of its own, which a model's eval does not reach",
        edits=[
            ("        self.p = p\n", "        self.p = p\n        self.active = True\n"),
            ("if not self.training:", "if not self.active:"),
            (
                RETURN,
                RETURN
                + "\n\n    def eval(self):\n        self.active = False\n        return super().eval()",
            ),
        ],
        check="test_modes_of_a_model",
        says="after model.eval()",
    ),
    Wrong(
        "asks for the gradient mode",
        edits=[("if not self.training:", "if not (self.training and torch.is_grad_enabled()):")],
        check="test_modes_of_a_model",
        says="no_grad",
    ),
    Wrong(
        "asks x whether this is training",
        edits=[("if not self.training:", "if not (self.training and x.requires_grad):")],
        check="test_rate_and_scale",
    ),
    Wrong(
        "p is the probability to keep",
        edits=draw("dropped = torch.rand(x.shape, device=x.device) >= self.p"),
        check="test_rate_and_scale",
        says="probability 0.1",
    ),
    Wrong(
        "drops everything unless told otherwise",
        edits=[("p: float = 0.5", "p: float = 1.0")],
        check="test_rate_and_scale",
        says="Dropout()(x) does not drop",
    ),
    Wrong(
        "does not scale",
        edits=[(SCALE, "scale = 1.0")],
        check="test_rate_and_scale",
        says="what remains is left as it is",
    ),
    Wrong(
        "scales in evaluation instead",
        edits=[
            (EVAL, "        if not self.training:\n            return x * (1 - self.p)\n"),
            (SCALE, "scale = 1.0"),
        ],
        check="test_evaluation",
    ),
    Wrong(
        "scales by 1 / p",
        edits=[(SCALE, "scale = 1 / self.p if self.p else 1.0")],
        check="test_rate_and_scale",
        says="what remains is divided by p",
    ),
    Wrong(
        "never more than ten times as large",
        edits=[(SCALE, "scale = 0.0 if self.p == 1 else min(10.0, 1 / (1 - self.p))")],
        check="test_rate_and_scale",
    ),
    Wrong(
        "draws in float16, to save memory",
        edits=draw(DRAW.replace("device=x.device", "device=x.device, dtype=torch.float16")),
        check="test_dtypes",
        says="0.0006",
    ),
    Wrong("scales by 1 + p", edits=[(SCALE, "scale = 1 + self.p")], check="test_rate_and_scale"),
    Wrong(
        "scales by the share that remained",
        edits=[(SCALE, "scale = x.numel() / max(1, int((~dropped).sum()))")],
        check="test_rate_and_scale",
        says="what remains is divided by the share that",
    ),
    Wrong(
        "drops whole rows",
        edits=draw("dropped = torch.rand((*x.shape[:-1], 1) if x.dim() else (), device=x.device) < self.p"),
        check="test_each_number_on_its_own",
        says="independently",
    ),
    Wrong(
        "the same mask for the whole batch",
        edits=draw("dropped = torch.rand(x.shape[1:], device=x.device) < self.p"),
        check="test_each_number_on_its_own",
        says="columns",
    ),
    Wrong(
        "always the same number of dropped ones",
        edits=draw(
            "order = torch.randperm(x.numel(), device=x.device).view(x.shape)\n"
            "        dropped = order < round(self.p * x.numel())"
        ),
        check="test_each_number_on_its_own",
        says="same count",
    ),
    Wrong(
        "draws each mask into the memory of the last one",
        edits=[
            (
                "        self.p = p\n",
                "        self.p = p\n        self._dropped = torch.empty(0, dtype=torch.bool)\n",
            ),
            (
                DRAW,
                """if self._dropped.shape != x.shape or self._dropped.device != x.device:
            self._dropped = torch.empty(x.shape, dtype=torch.bool, device=x.device)
        dropped = self._dropped.bernoulli_(self.p)""",
            ),
        ],
        check="test_gradient",
        says="inplace",
    ),
    Wrong(
        "one mask for all calls",
        edits=[
            ("        self.p = p\n", "        self.p = p\n        self._masks = {}\n"),
            (
                DRAW,
                "dropped = self._masks.setdefault((x.shape, x.device, self.p), torch.rand(x.shape, device=x.device) < self.p)",
            ),
        ],
        check="test_each_call_on_its_own",
        says="same mask",
    ),
    Wrong(
        "seeds the stream at each call",
        edits=draw("torch.manual_seed(0)\n        " + DRAW),
        check="test_each_call_on_its_own",
        says="same mask",
    ),
    Wrong(
        "a stream of its own",
        edits=[
            (
                "        self.p = p\n",
                "        self.p = p\n        self._gen = torch.Generator()\n        self._gen.seed()\n",
            ),
            (
                DRAW,
                "gen = self._gen if x.device.type == 'cpu' else None\n"
                "        dropped = torch.rand(x.shape, device=x.device, generator=gen) < self.p",
            ),
        ],
        check="test_each_call_on_its_own",
        says="after the same seed",
    ),
    Wrong(
        "draws in evaluation too",
        edits=[(EVAL, "        torch.rand(1)\n" + EVAL)],
        check="test_evaluation",
        says="global random stream",
    ),
    Wrong("1 / 0 for p = 1", edits=[(SCALE, "scale = 1 / (1 - self.p)")], check="test_edges_of_p"),
    Wrong(
        "0 / 0 for p = 1",
        edits=[
            (SCALE, ""),
            (RETURN, "return x * (~dropped) / torch.tensor(1 - self.p, dtype=x.dtype, device='cpu')"),
        ],
        check="test_edges_of_p",
        says="nan",
    ),
    Wrong(
        "a constant for p = 1",
        edits=[(DRAW, "if self.p == 1:\n            return torch.zeros_like(x)\n        " + DRAW)],
        check="test_edges_of_p",
        says="graph",
    ),
    Wrong(
        "p = 1 is an error",
        edits=[("if not 0.0 <= p <= 1.0:", "if not 0.0 <= p < 1.0:")],
        check="test_edges_of_p",
    ),
    Wrong(
        "takes NaN for a probability",
        edits=[("if not 0.0 <= p <= 1.0:", "if p < 0.0 or p > 1.0:")],
        check="test_edges_of_p",
        says="Dropout(nan)",
    ),
    Wrong(
        "infinity times 0 for large numbers",
        edits=[(RETURN, "return x * scale * ~dropped")],
        check="test_dtypes",
        says="largest number",
    ),
    Wrong(
        "one mask for all images of a batch",
        edits=draw(
            "sizes = (1, *x.shape[1:]) if x.dim() > 2 else x.shape\n"
            "        dropped = torch.rand(sizes, device=x.device) < self.p"
        ),
        check="test_each_number_on_its_own",
        says="dimension 0",
    ),
    Wrong(
        "whole channels of images",
        edits=draw(
            "sizes = (*x.shape[:2], 1, 1) if x.dim() == 4 else x.shape\n"
            "        dropped = torch.rand(sizes, device=x.device) < self.p"
        ),
        check="test_each_number_on_its_own",
        says="(8, 8, 10, 10)",
    ),
    Wrong(
        "zeros in the default dtype for p = 1",
        edits=[
            (
                DRAW,
                "if self.p == 1:\n            return x * torch.zeros(x.shape, device=x.device)\n        "
                + DRAW,
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "zeros on the CPU for p = 1",
        edits=[
            (
                DRAW,
                "if self.p == 1:\n            return x * torch.zeros(x.shape, dtype=x.dtype).to(x.device)\n        "
                + DRAW,
            )
        ],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong("takes any p", edits=[(GUARD, "")], check="test_edges_of_p", says="no error"),
    Wrong(
        "asserts",
        edits=[(GUARD, "        assert 0 <= p <= 1\n")],
        check="test_edges_of_p",
        says="AssertionError",
    ),
    Wrong(
        "checks at the first call",
        edits=[(GUARD, ""), (EVAL, GUARD.replace("p <= 1", "self.p <= 1").replace("{p}", "{self.p}") + EVAL)],
        check="test_edges_of_p",
        says="no error",
    ),
    Wrong(
        "p of the first day",
        edits=[
            ("        self.p = p\n", "        self.p = p\n        self._p = p\n"),
            (DRAW, DRAW.replace("self.p", "self._p")),
        ],
        check="test_p_set_later",
    ),
    Wrong(
        "the scale of the first day",
        edits=[
            (
                "        self.p = p\n",
                "        self.p = p\n        self._scale = 1 / (1 - p) if p < 1 else 0.0\n",
            ),
            (SCALE, "scale = self._scale"),
        ],
        check="test_p_set_later",
    ),
    Wrong(
        "p under another name",
        edits=[
            ("self.p = p", "self.rate = p"),
            (DRAW, DRAW.replace("self.p", "self.rate")),
            (SCALE, SCALE.replace("self.p", "self.rate")),
        ],
        check="test_p_set_later",
    ),
    Wrong(
        "gradients for what is dropped",
        edits=[(RETURN, "y = x * scale\n        y.data[dropped] = 0\n        return y")],
        check="test_gradient",
        says="what is dropped gets a gradient",
    ),
    Wrong(
        "no gradient at all",
        edits=[(RETURN, "return (x.detach() * scale).masked_fill(dropped, 0.0)")],
        check="test_gradient",
        says="gradient",
    ),
    Wrong(
        "a gradient without the scale",
        edits=[(RETURN, "y = x.masked_fill(dropped, 0.0)\n        return y + (y * (scale - 1)).detach()")],
        check="test_gradient",
    ),
    Wrong(
        "drops in place",
        edits=[
            (
                RETURN,
                "with torch.no_grad():\n            x.masked_fill_(dropped, 0.0)\n        return x * scale",
            )
        ],
        check="test_any_shape",
        says="changes its input x",
    ),
    Wrong(
        "assigns through a flat view",
        edits=[
            (
                RETURN,
                "y = (x * scale).contiguous()\n        y.view(-1)[dropped.view(-1)[: max(1, len(x))].nonzero()] = 0\n        return y",
            )
        ],
        check="test_any_shape",
    ),
    Wrong(
        "draws in the dtype of x",
        edits=draw("dropped = torch.rand_like(x) < self.p"),
        check="test_dtypes",
        says="0.0006",
    ),
    Wrong(
        "a mask in float32",
        edits=[(RETURN, "return x * (~dropped).float() * scale")],
        check="test_dtypes",
        says="float32",
    ),
    Wrong(
        "float32 on the way",
        edits=[(RETURN, "return (x.float() * scale).masked_fill(dropped, 0.0).to(x.dtype)")],
        check="test_dtypes",
    ),
    Wrong(
        "a mask on the CPU", edits=draw("dropped = torch.rand(x.shape) < self.p"), check="test_on_a_device"
    ),
    Wrong(
        "a mask made on the CPU and moved",
        edits=draw("dropped = (torch.rand(x.shape) < self.p).to(x.device)"),
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "F.dropout does the work",
        edits=instead("        return nn.functional.dropout(x, self.p, self.training)\n"),
        check="test_own_computation",
        says="dropout",
    ),
    Wrong(
        "nn.Dropout does the work",
        code="""
from torch import nn

class Dropout(nn.Dropout):
    pass
""",
        check="test_own_computation",
    ),
    Wrong(
        "p as a buffer",
        edits=[
            (
                "        self.p = p\n",
                "        self.register_buffer('_p', torch.tensor(p))\n        self.p = p\n",
            ),
        ],
        check="test_own_computation",
        says="_p",
    ),
    Right(
        "bernoulli_ into a mask of the dtype of x",
        edits=instead(
            """
        if not self.training or self.p == 0:
            return x
        keep = torch.empty_like(x, memory_format=torch.contiguous_format).bernoulli_(1 - self.p)
        if self.p < 1:
            keep.div_(1 - self.p)
        return x * keep
"""
        ),
    ),
    Right(
        "where; a draw in float64; a clone in evaluation",
        edits=instead(
            """
        if self.training:
            keep = torch.rand(x.size(), dtype=torch.float64, device=x.device) >= self.p
            return torch.where(keep, x / max(1 - self.p, 1e-12), 0.0 * x)
        return x.clone()
"""
        ),
    ),
    Right(
        "bernoulli of probabilities in float32",
        edits=[
            (DRAW, "dropped = torch.bernoulli(torch.full(x.shape, float(self.p), device=x.device)).bool()"),
            (RETURN, "return x * (~dropped) * scale"),
        ],
    ),
    Wrong(
        "one mask for all calls under no_grad",
        edits=[
            (
                DRAW,
                """if torch.is_grad_enabled() or getattr(self, "last", x).shape != x.shape or not hasattr(self, "last"):
            self.last = torch.rand(x.shape, device=x.device)
        dropped = self.last < self.p""",
            )
        ],
        check="test_modes_of_a_model",
        says="the same numbers",
    ),
    Wrong(
        "draws wide numbers for bfloat16, and for float16 those of float16",
        edits=draw(
            "wide = torch.float32 if x.dtype == torch.bfloat16 else x.dtype\n"
            "        dropped = torch.rand(x.shape, dtype=wide, device=x.device) < self.p"
        ),
        check="test_dtypes",
        says="0.0006",
    ),
    Wrong(
        "keeps what lies below 1 - p, of numbers in float16",
        edits=draw(
            "wide = torch.float32 if x.dtype == torch.bfloat16 else x.dtype\n"
            "        dropped = torch.rand(x.shape, dtype=wide, device=x.device) >= 1 - self.p"
        ),
        check="test_dtypes",
        says="0.9995",
    ),
    Wrong(
        "drops where the draw is p as well: now and then one number for p = 0",
        edits=[(DRAW, DRAW.replace("< self.p", "<= self.p"))],
        check="test_edges_of_p",
        says="20,000 ones",
    ),
    Wrong(
        "drops what lies above 1 - p: not the draw of 0 for p = 1",
        edits=[
            (DRAW, DRAW.replace("< self.p", "> 1 - self.p")),
            (SCALE, "scale = 1 / max(1 - self.p, 1e-9)"),
        ],
        check="test_edges_of_p",
    ),
    Wrong(
        "a backward of its own that asks for p again, which may have been set since",
        edits=[
            (RETURN, "return _Drop.apply(x, dropped, self) if self.p < 1 else x * 0.0"),
            (
                "class Dropout(nn.Module):\n",
                """import torch


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dropped, layer):
        ctx.dropped, ctx.layer = dropped, layer
        return (x / (1 - layer.p)).masked_fill(dropped, 0.0)

    @staticmethod
    def backward(ctx, g):
        return (g / (1 - ctx.layer.p)).masked_fill(ctx.dropped, 0.0), None, None


class Dropout(nn.Module):
""",
            ),
        ],
        check="test_gradient",
        says="p is set",
    ),
]
