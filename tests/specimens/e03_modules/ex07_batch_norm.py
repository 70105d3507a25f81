"""Answers to batch_norm that people write."""

from grader.authoring.specimen import Right, Works, Wrong

EXACT = "exact = x if x.dtype == torch.float64 else x.float()"
MEAN = "mean = exact.mean(dims)  # (features,)"
VAR = "var = exact.var(dims, correction=0)  # (features,)"
UPDATE_MEAN = "self.running_mean += self.momentum * (mean - self.running_mean)"
UPDATE_VAR = "self.running_var += self.momentum * (var * (n / (n - 1)) - self.running_var)"
SCALE = "scale = self.weight * (var + self.eps).rsqrt()  # (features,)"

SPECIMENS = [
    Wrong(
        "normalises with the unbiased variance",
        edits=[
            (VAR, "var = exact.var(dims)"),
            (UPDATE_VAR, "self.running_var += self.momentum * (var - self.running_var)"),
        ],
        check="test_training",
        says="the unbiased variance normalises",
        rung="job",
    ),
    Wrong(
        "keeps the biased variance, as d2l.ai does",
        edits=[("var * (n / (n - 1))", "var")],
        check="test_running_statistics",
        says="biased variance: divide by n - 1",
        rung="job",
    ),
    Wrong(
        "momentum the wrong way round",
        edits=[
            (UPDATE_MEAN, UPDATE_MEAN.replace("self.momentum", "(1 - self.momentum)")),
            (UPDATE_VAR, UPDATE_VAR.replace("self.momentum", "(1 - self.momentum)")),
        ],
        check="test_running_statistics",
        says="momentum weighs the old numbers",
        rung="job",
    ),
    Wrong(
        "eps outside the root",
        edits=[(SCALE, "scale = self.weight / (var.sqrt() + self.eps)")],
        check="test_training",
        says="to the deviation",
        rung="job",
    ),
    Wrong(
        "statistics over the rows alone",
        edits=[
            ("dims = [0, *range(2, x.dim())]", "dims = [0]"),
            ("n = x.numel() // features", "n = len(x)"),
            ("mean.view(column)", "(mean if mean.dim() > 1 else mean.view(column))"),
            ("scale.view(column)", "(scale if scale.dim() > 1 else scale.view(column))"),
        ],
        check="test_training",
        rung="job",
    ),
    Wrong(
        "statistics of the batch in evaluation mode",
        edits=[
            (
                "mean, var = self.running_mean, self.running_var",
                "dims = [0, *range(2, x.dim())]\n            mean, var = exact.mean(dims), exact.var(dims, correction=0)",
            )
        ],
        check="test_evaluation",
        says="in evaluation it is the running ones",
        rung="job",
    ),
    Wrong(
        "updates in evaluation mode as well",
        edits=[
            (
                "mean, var = self.running_mean, self.running_var\n",
                "mean, var = self.running_mean.clone(), self.running_var.clone()\n"
                "            self.running_mean += self.momentum * (exact.transpose(0, 1).flatten(1).mean(1) - mean)\n",
            )
        ],
        check="test_evaluation",
        rung="job",
    ),
    Wrong(
        "mean and variance of the batch as constants",
        edits=[
            (MEAN, "mean = exact.detach().mean(dims)"),
            (VAR, "var = exact.detach().var(dims, correction=0)"),
        ],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "running statistics that drag their graph along",
        edits=[
            ("with torch.no_grad():", "if True:"),
            (
                UPDATE_MEAN,
                "self.running_mean = self.running_mean + self.momentum * (mean - self.running_mean)",
            ),
        ],
        check="test_gradients",
        says="carries a graph",
        rung="job",
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
        rung="job",
    ),
    Wrong(
        "PyTorch's own normalises",
        edits=[
            (
                "return result.to(x.dtype)",
                "if self.training:\n            return nn.functional.batch_norm(\n"
                "                x, None, None, self.weight, self.bias, training=True, eps=self.eps)\n"
                "        return result.to(x.dtype)",
            )
        ],
        check="test_own_computation",
        rung="job",
    ),
    Wrong("computes in half precision", edits=[(EXACT, "exact = x")], check="test_half_precision"),
    Wrong("float32 for everything", edits=[(EXACT, "exact = x.float()")], check="test_float64"),
    Wrong(
        "new tensors in place of the old",
        edits=[
            (
                UPDATE_MEAN,
                "self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean",
            )
        ],
        check="test_in_place",
    ),
    Wrong(
        "eps as a tensor on the CPU",
        edits=[("(var + self.eps)", "(var + torch.full((1,), self.eps))")],
        check="test_on_a_device",
    ),
    Wrong("takes a single row to train on", edits=[("if n < 2:", "if n < 1:")], check="test_bad_input"),
    Wrong(
        "the mean of the squares minus the square of the mean",
        edits=[(VAR, "var = (exact**2).mean(dims) - mean**2")],
        check="test_far_from_zero",
        says="the small difference of two large numbers",
        rung="fine",
    ),
    Wrong(
        "a mode of its own, which the model around it does not set",
        edits=[
            ("        self.eps = eps\n", "        self.eps = eps\n        self.is_training = True\n"),
            ("        if self.training:\n", "        if self.is_training:\n"),
            (
                "    def forward(\n",
                "    def eval(self):\n        self.is_training = False\n        return super().eval()\n\n    def forward(\n",
            ),
        ],
        check="test_evaluation",
        rung="job",
    ),
    Works(
        "d2l.ai's, with the variance that the statement asks for",
        code="""
import torch
from torch import nn


class BatchNorm(nn.Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, X):
        dims = [d for d in range(X.dim()) if d != 1]
        shape = [1, -1] + [1] * (X.dim() - 2)
        if not self.training:
            mean, var = self.running_mean.view(shape), self.running_var.view(shape)
        else:
            mean = X.mean(dim=dims, keepdim=True)
            var = ((X - mean) ** 2).mean(dim=dims, keepdim=True)
            n = X.numel() / X.shape[1]
            m = self.momentum
            self.running_mean = (1.0 - m) * self.running_mean + m * mean.detach().flatten()
            self.running_var = (1.0 - m) * self.running_var + m * var.detach().flatten() * n / (n - 1)
        X_hat = (X - mean) / torch.sqrt(var + self.eps)
        return self.weight.view(shape) * X_hat + self.bias.view(shape)
""",
    ),
    Works(
        "two variances, under no_grad, without errors",
        code="""
import torch
from torch import nn


class BatchNorm(nn.Module):
    def __init__(self, features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps = eps
        self.momentum = momentum
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        y = x.transpose(1, -1)
        if self.training:
            dims = tuple(range(y.dim() - 1))
            mean, var = y.mean(dims), y.var(dims, unbiased=False)
            with torch.no_grad():
                self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
                self.running_var.mul_(1 - self.momentum).add_(self.momentum * y.var(dims))
        else:
            mean, var = self.running_mean, self.running_var
        y = (y - mean) / torch.sqrt(var + self.eps) * self.weight + self.bias
        return y.transpose(1, -1)
""",
    ),
    Right(
        "features last, var_mean, lerp",
        code="""
import torch
from torch import nn


class BatchNorm(nn.Module):
    def __init__(self, features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.features, self.eps, self.momentum = features, eps, momentum
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        if x.ndim < 2 or x.size(1) != self.features:
            raise ValueError("features")
        y = x.to(torch.promote_types(x.dtype, torch.float32)).movedim(1, -1)
        if self.training:
            count = y[..., 0].numel()
            if count < 2:
                raise ValueError("a single value")
            var, mean = torch.var_mean(y, tuple(range(y.ndim - 1)), correction=0)
            self.running_mean.lerp_(mean.detach().to(self.running_mean.dtype), self.momentum)
            fresh = var.detach() * count / (count - 1)
            self.running_var.lerp_(fresh.to(self.running_var.dtype), self.momentum)
        else:
            mean, var = self.running_mean, self.running_var
        y = (y - mean) / (var + self.eps).sqrt() * self.weight + self.bias
        return y.movedim(-1, 1).to(x.dtype)
""",
    ),
    Right(
        "variance from the centred batch, copied into the buffers",
        code="""
import torch
from torch import nn


class BatchNorm(nn.Module):
    def __init__(self, features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        if x.dim() < 2 or x.shape[1] != self.weight.numel():
            raise ValueError("x must be (batch, features, ...)")
        rows = x.movedim(1, -1).reshape(-1, x.shape[1])
        rows = rows if rows.dtype == torch.float64 else rows.float()
        mean, var = self.running_mean, self.running_var
        if self.training:
            if len(rows) < 2:
                raise ValueError("one value per feature")
            mean = rows.mean(0)
            squares = (rows - mean).square().sum(0)
            var = squares / len(rows)
            m = self.momentum
            self.running_mean.copy_((1 - m) * self.running_mean + m * mean.detach())
            self.running_var.copy_((1 - m) * self.running_var + m * squares.detach() / (len(rows) - 1))
        rows = (rows - mean) / torch.sqrt(var + self.eps) * self.weight + self.bias
        return rows.view(x.movedim(1, -1).shape).movedim(-1, 1).to(x.dtype)
""",
    ),
]
