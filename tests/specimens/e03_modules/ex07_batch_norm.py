"""Answers to batch_norm that people write."""

from grader.authoring.specimen import Right, Wrong

BIASED = "exact.var(dims, correction=0)"
UPDATE = "            self._update(mean.detach(), var.detach() * (n / (n - 1)))\n"
MOMENTUM = (
    "momentum = 1 / self.num_batches_tracked.to(mean.dtype) if self.momentum is None else self.momentum"
)
MEAN = "        self.running_mean += momentum * (mean - self.running_mean)\n"
COUNT = "        self.num_batches_tracked += 1\n"
SMALL = """            if n < 2:
                raise ValueError(f"a batch needs two values per feature to train on, not {n}")
"""
SHAPE = "if x.dim() < 2 or x.shape[1] != self.features:"

SPECIMENS = [
    Wrong(
        "no update while the weights are frozen",
        edits=[
            (
                UPDATE,
                UPDATE.replace(
                    "            self._update",
                    "            if self.weight.requires_grad:\n                self._update",
                ),
            )
        ],
        check="test_running_statistics",
        says="after 3 batches",
    ),
    Wrong(
        "a constant feature is set to 0, and its gradient is lost",
        edits=[("        scale = self.weight *", "        scale = (var != 0) * self.weight *")],
        check="test_difficult_features",
        says="constant feature",
    ),
    Wrong(
        "1 / count in float32, in a float64 layer too",
        edits=[(MOMENTUM, MOMENTUM.replace("mean.dtype", "torch.float32"))],
        check="test_float64",
        says="momentum=None",
    ),
    Wrong(
        "centres x itself where no gradient is asked for",
        edits=[
            (
                "            var = exact.var(dims, correction=0)  # (features,)\n",
                "            var = exact.var(dims, correction=0)  # (features,)\n"
                "            if not torch.is_grad_enabled():\n"
                "                exact -= mean.view(-1, *[1] * (x.dim() - 2))\n"
                "                mean = torch.zeros_like(mean)\n",
            )
        ],
        check="test_batch_is_left_alone",
        says="no_grad",
    ),
    Wrong(
        "looks at the features of batches with rows only",
        edits=[(SHAPE, "if x.dim() < 2 or (x.numel() and x.shape[1] != self.features):")],
        check="test_bad_input",
    ),
    Wrong(
        "computes float64 in the dtype of the layer",
        edits=[
            (
                "exact = x if x.dtype == torch.float64 else x.float()",
                "exact = x.to(self.weight.dtype if self.weight.dtype == torch.float64 else torch.float32)",
            )
        ],
        check="test_float64",
    ),
    Wrong(
        "normalises with the unbiased variance",
        edits=[(BIASED, "exact.var(dims, correction=1)")],
        check="test_training_output",
        says="the unbiased variance normalises",
    ),
    Wrong(
        "keeps the biased variance",
        edits=[(" * (n / (n - 1))", "")],
        check="test_running_statistics",
        says="running_var",
    ),
    Wrong(
        "unbiased over the rows alone",
        edits=[(" * (n / (n - 1))", " * (len(x) / (len(x) - 1) if len(x) > 1 else 1)")],
        check="test_running_statistics",
    ),
    Wrong(
        "momentum the wrong way round",
        edits=[("momentum * (mean - self.running_mean)", "(1 - momentum) * (mean - self.running_mean)")],
        check="test_running_statistics",
        says="running_mean",
    ),
    Wrong(
        "takes a momentum of 0 for none",
        edits=[(MOMENTUM, "momentum = self.momentum or 1 / self.num_batches_tracked")],
        check="test_running_statistics",
        says="momentum=0.0",
    ),
    Wrong(
        "hard-coded momentum",
        edits=[("self.momentum = momentum", "self.momentum = 0.1")],
        check="test_running_statistics",
    ),
    Wrong(
        "hard-coded eps",
        edits=[("self.eps = eps", "self.eps = 1e-5")],
        check="test_training_output",
        says="the eps that is given has no effect",
    ),
    Wrong(
        "eps outside the root",
        edits=[("(var + self.eps).rsqrt()", "1 / (var.sqrt() + self.eps)")],
        check="test_training_output",
        says="eps is added to the deviation",
    ),
    Wrong("does not count", edits=[(COUNT, "")], check="test_running_statistics", says="num_batches_tracked"),
    Wrong(
        "counts after it has averaged",
        edits=[
            (COUNT, ""),
            (
                MOMENTUM,
                "momentum = 1 / (self.num_batches_tracked + 2) if self.momentum is None else self.momentum",
            ),
            (MEAN, MEAN + COUNT),
        ],
        check="test_running_statistics",
        says="momentum=None",
    ),
    Wrong(
        "statistics over the rows alone",
        edits=[
            ("dims = [0, *range(2, x.dim())]", "dims = [0]"),
            (
                "            mean = exact.mean(dims)  # (features,)",
                "            mean = exact.mean(dims)\n            while mean.dim() > 1:\n                mean = mean.mean(-1)",
            ),
            (
                "exact.var(dims, correction=0)  # (features,)",
                "exact.var(dims, correction=0)\n            while var.dim() > 1:\n                var = var.mean(-1)",
            ),
        ],
        check="test_training_output",
    ),
    Wrong(
        "only rows and features",
        edits=[(SHAPE, "if x.dim() != 2 or x.shape[1] != self.features:")],
        check="test_training_output",
    ),
    Wrong(
        "no variance below 0.001",
        edits=[("(var + self.eps)", "(var.clamp(min=1e-3) + self.eps)")],
        check="test_training_output",
    ),
    Wrong(
        "counts the first of the further dimensions alone",
        edits=[("n = x.numel() // self.features", "n = len(x) * (x.shape[2] if x.dim() > 2 else 1)")],
        check="test_running_statistics",
    ),
    Wrong(
        "updates in evaluation mode",
        edits=[
            (
                "            mean, var = self.running_mean.to",
                "            if x.numel() > self.features:\n                self._update(x.detach().float().mean([0, *range(2, x.dim())]).to(self.weight.dtype), self.running_var)\n            mean, var = self.running_mean.to",
            )
        ],
        check="test_evaluation",
    ),
    Wrong(
        "statistics of the batch in evaluation mode",
        edits=[
            ("        if self.training:\n", "        if self.training or x.numel() // self.features > 1:\n")
        ],
        check="test_evaluation",
        says="the batch's statistics normalise in evaluation",
    ),
    Wrong(
        "the running statistics in training mode, once there are some",
        edits=[
            (
                "        scale = self.weight",
                "        if self.training and self.num_batches_tracked > 3:\n            mean, var = self.running_mean.to(exact.dtype).clone(), self.running_var.to(exact.dtype).clone()\n        scale = self.weight",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "statistics as plain attributes",
        edits=[
            (
                'self.register_buffer("running_mean", torch.zeros(features))',
                "self.running_mean = torch.zeros(features)",
            ),
            (
                'self.register_buffer("running_var", torch.ones(features))',
                "self.running_var = torch.ones(features)",
            ),
        ],
        check="test_registered",
        says="buffers",
    ),
    Wrong(
        "statistics as parameters",
        edits=[
            (
                'self.register_buffer("running_mean", torch.zeros(features))',
                "self.running_mean = nn.Parameter(torch.zeros(features), requires_grad=False)",
            ),
        ],
        check="test_registered",
        says="parameters",
    ),
    Wrong(
        "statistics that are not saved",
        edits=[
            (
                '("running_var", torch.ones(features))',
                '("running_var", torch.ones(features), persistent=False)',
            )
        ],
        check="test_registered",
        says="state_dict",
    ),
    Wrong(
        "a count in floating point",
        edits=[("torch.tensor(0)", "torch.tensor(0.0)")],
        check="test_registered",
    ),
    Wrong(
        "a running variance that starts at zero",
        edits=[('("running_var", torch.ones(features))', '("running_var", torch.zeros(features))')],
        check="test_registered",
        says="running_var",
    ),
    Wrong(
        "new tensors in place of the old",
        edits=[
            (MEAN, "        self.running_mean = self.running_mean + momentum * (mean - self.running_mean)\n")
        ],
        check="test_updated_in_place",
        says="in place",
    ),
    Wrong(
        "running statistics that drag their graph along",
        edits=[
            ("    @torch.no_grad()\n", ""),
            ("mean.detach(), var.detach()", "mean, var"),
            (MEAN, "        self.running_mean = self.running_mean + momentum * (mean - self.running_mean)\n"),
            (
                "        self.running_var += momentum * (var - self.running_var)\n",
                "        self.running_var = self.running_var + momentum * (var - self.running_var)\n",
            ),
        ],
        check="test_updated_in_place",
    ),
    Wrong(
        "mean and variance of the batch as constants",
        edits=[
            (
                "            self._update(",
                "            mean, var = mean.detach(), var.detach()\n            self._update(",
            )
        ],
        check="test_gradients",
        says="gradient for x",
    ),
    Wrong(
        "the variance as a constant",
        edits=[("            self._update(", "            var = var.detach()\n            self._update(")],
        check="test_gradients",
        says="gradient for x",
    ),
    Wrong(
        "uses the data of the weight",
        edits=[("scale = self.weight *", "scale = self.weight.data *")],
        check="test_gradients",
        says="weight",
    ),
    Wrong(
        "computes in half precision",
        edits=[("exact = x if x.dtype == torch.float64 else x.float()", "exact = x")],
        check="test_half_precision",
    ),
    Wrong(
        "float32 for everything",
        edits=[("exact = x if x.dtype == torch.float64 else x.float()", "exact = x.float()")],
        check="test_float64",
    ),
    Wrong(
        "returns float32",
        edits=[("return result.to(x.dtype)", "return result")],
        check="test_half_precision",
        says="dtype",
    ),
    Wrong(
        "rounds before scale and shift",
        edits=[
            ("scale = self.weight * (var + self.eps).rsqrt()", "scale = (var + self.eps).rsqrt()"),
            (
                "result = (exact - mean.view(column)) * scale.view(column) + self.bias.view(column)",
                "result = ((exact - mean.view(column)) * scale.view(column)).to(x.dtype)\n        result = result * self.weight.view(column) + self.bias.view(column)",
            ),
        ],
        check="test_half_precision",
    ),
    Wrong(
        "mean of squares minus square of the mean",
        edits=[(BIASED, "exact.square().mean(dims) - mean.square()")],
        check="test_difficult_features",
    ),
    Wrong(
        "divides by the deviation alone",
        edits=[("(var + self.eps).rsqrt()", "(1 / var.sqrt()).clamp(max=(1 / self.eps) ** 0.5)")],
        check="test_training_output",
        says="the eps that is given has no effect",
    ),
    Wrong("takes a single row to train on", edits=[(SMALL, "")], check="test_bad_input", says="error"),
    Wrong(
        "looks at the rows only",
        edits=[("            if n < 2:", "            if len(x) < 2:")],
        check="test_training_output",
    ),
    Wrong(
        "counts first, complains later",
        edits=[(COUNT, ""), (SMALL, "            self.num_batches_tracked += 1\n" + SMALL)],
        check="test_bad_input",
        says="num_batches_tracked",
    ),
    Wrong(
        "does not look at the features",
        edits=[(SHAPE, "if x.dim() < 2:")],
        check="test_bad_input",
    ),
    Wrong(
        "centres x in place",
        edits=[
            (
                "        result = (exact - mean.view(column))",
                "        with torch.no_grad():\n            exact.data.sub_(mean.detach().view(column)).add_(mean.detach().view(column) + 1)\n        result = (exact - mean.view(column))",
            )
        ],
        check="test_batch_is_left_alone",
        says="changes its input",
    ),
    Wrong(
        "reads the count back",
        edits=[("1 / self.num_batches_tracked.to(mean.dtype) if", "1 / int(self.num_batches_tracked) if")],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "PyTorch's own",
        edits=[
            (
                UPDATE,
                UPDATE
                + "            return nn.functional.batch_norm(exact, None, None, self.weight, self.bias, True, 0.1, self.eps).to(x.dtype)\n",
            )
        ],
        check="test_own_computation",
        says="rules out",
    ),
    Wrong(
        "a loop over the features",
        edits=[
            (
                "            mean = exact.mean(dims)  # (features,)",
                "            mean = torch.stack([exact[:, i].mean() for i in range(self.features)])",
            )
        ],
        check="test_own_computation",
        says="grows",
    ),
    Wrong(
        "a mode of its own",
        edits=[
            ("        self.eps = eps\n", "        self.eps = eps\n        self.learning = True\n"),
            (
                "        if self.training:\n",
                "        self.learning = self.learning and self.training\n        if self.learning:\n",
            ),
        ],
        check="test_modes_switch",
    ),
    Wrong(
        "statistics that all layers share",
        edits=[
            ("\n\nclass BatchNorm", "\n\nSHARED = {}\n\n\nclass BatchNorm"),
            (
                'self.register_buffer("running_mean", torch.zeros(features))',
                'self.register_buffer("running_mean", SHARED.setdefault(features, torch.zeros(features)))',
            ),
        ],
        check="test_registered",
    ),
    Wrong(
        "keeps the old weight for speed",
        edits=[
            (
                "        self.features = features\n",
                "        self.features = features\n        self.first = None\n",
            ),
            (
                "        scale = self.weight *",
                "        if not self.training and self.first is None:\n            self.first = self.weight\n        scale = (self.weight if self.training else self.first) *",
            ),
        ],
        check="test_gradients",
    ),
    Wrong(
        "a gradient step moves the bias of a copy",
        edits=[
            (
                "+ self.bias.view(column)",
                "+ (self.bias.detach().clone() if self.training else self.bias).view(column)",
            )
        ],
        check="test_trains_in_a_model",
    ),
    Wrong(
        "new numbers are put under the buffers, in other memory",
        edits=[
            (
                "        self.running_mean += momentum * (mean - self.running_mean)\n",
                "        self.running_mean.data = self.running_mean + momentum * (mean - self.running_mean)\n",
            )
        ],
        check="test_updated_in_place",
    ),
    Right(
        "features last, var_mean, lerp",
        code="""
import torch
from torch import nn


class BatchNorm(nn.Module):
    num_batches_tracked: torch.Tensor

    def __init__(self, features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.options = (eps, momentum)
        self.weight, self.bias = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
        for name, first in [("running_mean", torch.zeros), ("running_var", torch.ones)]:
            self.register_buffer(name, first(features))
        self.register_buffer("num_batches_tracked", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        eps, momentum = self.options
        if x.ndim < 2 or x.size(1) != self.weight.numel():
            raise ValueError("wrong shape")
        wide = torch.float64 if x.dtype is torch.float64 else torch.float32
        rows = x.to(wide).movedim(1, -1)
        shape = rows.shape
        flat = rows.reshape(-1, shape[-1]) if x.numel() else rows
        if self.training:
            if x.numel() < 2 * x.size(1):
                raise ValueError("too few")
            var, mean = torch.var_mean(flat, 0, unbiased=False)
            with torch.no_grad():
                self.num_batches_tracked.add_(1)
                if momentum is None:
                    momentum = self.num_batches_tracked.to(wide).reciprocal()
                n = flat.shape[0]
                for running, new in ((self.running_mean, mean), (self.running_var, var * n / (n - 1))):
                    running.copy_(running.to(wide) * (1 - momentum) + momentum * new)
        else:
            mean, var = self.running_mean.to(wide), self.running_var.to(wide)
        normal = (flat - mean) / (var + eps).sqrt()
        out = normal * self.weight.to(wide) + self.bias.to(wide)
        return out.view(shape).movedim(-1, 1).to(x.dtype)
""",
    ),
    Right(
        "variance from the centred batch, scale and shift by addcmul",
        edits=[
            (BIASED, "(exact - mean.view(1, -1, *[1] * (x.dim() - 2))).pow(2).mean(dims)"),
            (
                "result = (exact - mean.view(column)) * scale.view(column) + self.bias.view(column)",
                "result = torch.addcmul(self.bias.view(column).to(exact.dtype), exact - mean.view(column), scale.view(column).to(exact.dtype))",
            ),
        ],
    ),
    Right(
        "a subclass of PyTorch's bookkeeping",
        edits=[
            ("class BatchNorm(nn.Module):", "class BatchNorm(nn.modules.batchnorm._NormBase):"),
            (
                "super().__init__()\n        self.features = features\n        self.eps = eps\n        self.momentum = momentum\n",
                "super().__init__(features, eps, momentum)\n        self.features = features\n",
            ),
            (
                "        self.weight = nn.Parameter(torch.ones(features))\n        self.bias = nn.Parameter(torch.zeros(features))\n",
                "",
            ),
            (
                '        self.register_buffer("running_mean", torch.zeros(features))\n        self.register_buffer("running_var", torch.ones(features))\n        self.register_buffer("num_batches_tracked", torch.tensor(0))',
                "        self.reset_running_stats()",
            ),
        ],
    ),
    Wrong(
        "updates in the buffer's dtype",
        edits=[
            (
                MEAN,
                "        mean, var = mean.to(self.running_mean.dtype), var.to(self.running_var.dtype)\n        self.running_mean.mul_(1 - momentum).add_(momentum * mean)\n",
            )
        ],
        check="test_half_precision_statistics",
        says="running_mean",
    ),
    Right(
        "casts the new statistics, and weighs them in float64",
        edits=[
            (
                MEAN,
                "        new = mean.to(self.running_mean.dtype).double()\n        self.running_mean.copy_((1 - momentum) * self.running_mean.double() + momentum * new)\n",
            )
        ],
    ),
]
