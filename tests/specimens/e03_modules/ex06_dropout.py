"""Answers to dropout that people write."""

from grader.authoring.specimen import Right, Works, Wrong

GUARD = """        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p is a probability, from 0 to 1, but it is {p}")
"""
EVAL = """        if not self.training:
            return x
"""
DRAW = "dropped = torch.rand(x.shape, device=x.device) < self.p  # (*shape)"
SCALE = "scale = 0.0 if self.p == 1 else 1 / (1 - self.p)"
RETURN = "return (x * scale).masked_fill(dropped, 0.0)"


def draw(line):
    return [(DRAW, line)]


SPECIMENS = [
    Wrong("drops always", edits=[(EVAL, "")], check="test_evaluation", says="is not x", rung="job"),
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
        rung="job",
    ),
    Wrong(
        "asks for the gradient mode",
        edits=[("if not self.training:", "if not (self.training and torch.is_grad_enabled()):")],
        check="test_another_mask_each_call",
        says="no_grad",
        rung="job",
    ),
    Wrong(
        "p is the probability to keep",
        edits=draw(DRAW.replace("<", ">=")),
        check="test_rate_and_scale",
        says="probability to keep",
        rung="job",
    ),
    Wrong(
        "does not scale",
        edits=[(SCALE, "scale = 1.0")],
        check="test_training",
        says="not divided",
        rung="job",
    ),
    Wrong(
        "scales in evaluation instead",
        edits=[("            return x\n", "            return x * (1 - self.p)\n"), (SCALE, "scale = 1.0")],
        check="test_evaluation",
        rung="job",
    ),
    Wrong(
        "scales by 1 / p",
        edits=[(SCALE, "scale = 1 / self.p if self.p else 1.0")],
        check="test_rate_and_scale",
        says="divided by p",
        rung="job",
    ),
    Wrong(
        "the same mask for the whole batch",
        edits=draw("dropped = (torch.rand(x.shape[1:], device=x.device) < self.p).expand(x.shape)"),
        check="test_each_number_on_its_own",
        says="dimension 0",
        rung="job",
    ),
    Wrong(
        "whole rows",
        edits=draw("dropped = torch.rand((*x.shape[:-1], 1), device=x.device) < self.p"),
        check="test_each_number_on_its_own",
        rung="job",
    ),
    Wrong(
        "one mask for all calls",
        edits=[
            ("        self.p = p\n", "        self.p = p\n        self._masks = {}\n"),
            (
                DRAW,
                "dropped = self._masks.setdefault(x.shape, torch.rand(x.shape, device=x.device)) < self.p",
            ),
        ],
        check="test_another_mask_each_call",
        says="same mask",
        rung="job",
    ),
    Wrong(
        "gradients for what is dropped",
        edits=[(RETURN, "y = x * scale\n        y.data[dropped] = 0\n        return y")],
        check="test_gradient",
        says="what is dropped gets a gradient",
        rung="job",
    ),
    Wrong(
        "F.dropout does the work",
        edits=[(EVAL, "        return nn.functional.dropout(x, self.p, self.training)\n" + EVAL)],
        check="test_own_computation",
        says="dropout",
        rung="job",
    ),
    Wrong("1 / 0 for p = 1", edits=[(SCALE, "scale = 1 / (1 - self.p)")], check="test_everything_dropped"),
    Wrong("takes any p", edits=[(GUARD, "")], check="test_bad_probability", says="no error"),
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
        "draws with NumPy, which torch.manual_seed does not reach",
        edits=[
            (DRAW, "dropped = torch.tensor(np.random.rand(*x.shape), device=x.device) < self.p"),
            ("import torch\n", "import numpy as np\nimport torch\n"),
        ],
        check="test_global_stream",
    ),
    Wrong(
        "a mask in float32",
        edits=[(RETURN, "return x * (~dropped).float() * scale")],
        check="test_dtype_is_kept",
    ),
    Wrong(
        "a mask on the CPU", edits=draw("dropped = torch.rand(x.shape) < self.p"), check="test_on_a_device"
    ),
    Wrong(
        "drops in place",
        edits=[
            (
                RETURN,
                "with torch.no_grad():\n            x.masked_fill_(dropped, 0.0)\n        return x * scale",
            )
        ],
        check="test_x_is_left_alone",
        rung="job",
    ),
    Works(
        "as d2l.ai writes it",
        code="""
import torch
from torch import nn

class Dropout(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        assert 0 <= p <= 1
        self.p = p

    def forward(self, X):
        if not self.training:
            return X
        if self.p == 1:
            return torch.zeros_like(X)
        mask = (torch.rand(X.shape) > self.p).float()
        return mask * X / (1.0 - self.p)
""",
    ),
    Works(
        "a mask by bernoulli",
        code="""
import torch
from torch import nn

class Dropout(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p
        self.keep = 1 - p

    def forward(self, x):
        if self.training:
            mask = torch.bernoulli(torch.full_like(x, self.keep))
            return x * mask / self.keep
        return x
""",
    ),
    Right(
        "bernoulli_ into a mask of the dtype of x",
        code="""
import torch
from torch import nn

class Dropout(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError("p must be between 0 and 1")
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        keep = torch.empty_like(x).bernoulli_(1 - self.p)
        return x * keep / (1 - self.p if self.p < 1 else 1)
""",
    ),
    Right(
        "where; a copy in evaluation",
        code="""
import torch
from torch import nn

class Dropout(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"not a probability: {p}")
        self.p = p

    def forward(self, x):
        if self.training:
            keep = torch.rand_like(x, dtype=torch.float32) >= self.p
            return torch.where(keep, x / max(1 - self.p, 1e-12), 0.0 * x)
        return x.clone()
""",
    ),
]
