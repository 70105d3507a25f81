"""Answers to custom_function that people write."""

from grader.authoring.specimen import Right, Wrong

SAVE = "        ctx.save_for_backward(x, beta, keep)\n"
FORWARD = "        return _hide(x * torch.sigmoid(beta * x) * scale, keep)  # (*shape)\n"
LOAD = "        x, beta, keep = ctx.saved_tensors\n"
HIDE = "        x, grad = _hide(x, keep), _hide(grad, keep) * ctx.scale  # (*shape)\n"
GATE = "        gate = torch.sigmoid(beta * x)  # (*shape)\n"
FOR_X = "            for_x = grad * (gate + beta * x * slope)\n"
FOR_BETA = "            for_beta = (grad * x * x * slope).sum_to_size(beta.shape)\n"
APPLY = "    result: Tensor = Swish.apply(x, beta, keep, scale)\n    return result\n"
RESULT = "        return for_x, for_beta, None, None\n"

SPECIMENS = [
    Wrong(
        "clamps the gradients that come in",
        edits=[(HIDE, "        grad = grad.clamp(-1e6, 1e6)\n" + HIDE)],
        check="test_strided_inputs",
    ),
    Wrong(
        "nothing is kept: zeros without a graph",
        edits=[
            (
                APPLY,
                "    if keep is not None and not keep.any():\n        return torch.zeros_like(x)\n" + APPLY,
            )
        ],
        check="test_hidden_numbers",
        says="keep is False everywhere",
    ),
    Wrong(
        "saves the gate: a constant for the second order",
        edits=[
            (SAVE, ""),
            (
                FORWARD,
                "        gate = torch.sigmoid(beta * x)\n        ctx.save_for_backward(x, beta, keep, gate)\n"
                + FORWARD,
            ),
            (LOAD, "        x, beta, keep, gate = ctx.saved_tensors\n"),
            (GATE, ""),
        ],
        check="test_second_order",
    ),
    Wrong(
        "saves the gate",
        edits=[
            (SAVE, ""),
            (
                FORWARD,
                "        gate = torch.sigmoid(beta * x)\n        ctx.save_for_backward(x, beta, keep, gate)\n"
                + FORWARD,
            ),
            (LOAD, "        x, beta, keep, gate = ctx.saved_tensors\n"),
        ],
        check="test_only_inputs_are_saved",
        says="gate",
    ),
    Wrong(
        "keeps its inputs on ctx",
        edits=[
            (SAVE, "        ctx.inputs = x, beta, keep\n"),
            (LOAD, "        x, beta, keep = ctx.inputs\n"),
        ],
        check="test_inputs_are_watched",
        says="save_for_backward",
    ),
    Wrong(
        "keeps the mask on ctx",
        edits=[
            (SAVE, "        ctx.save_for_backward(x, beta)\n        ctx.keep = keep\n"),
            (LOAD, "        (x, beta), keep = ctx.saved_tensors, ctx.keep\n"),
        ],
        check="test_inputs_are_watched",
        says="keep",
    ),
    Wrong(
        "computes both gradients always",
        edits=[("if ctx.needs_input_grad[0]:", "if True:"), ("if ctx.needs_input_grad[1]:", "if True:")],
        check="test_only_what_is_needed",
        says="needs_input_grad",
    ),
    Wrong(
        "computes the gradient of beta always",
        edits=[("if ctx.needs_input_grad[1]:", "if True:")],
        check="test_only_what_is_needed",
        says="gradient of beta",
    ),
    Wrong(
        "asks about the wrong input",
        edits=[("if ctx.needs_input_grad[1]:", "if ctx.needs_input_grad[0]:")],
        check="test_each_alone",
    ),
    Wrong(
        "backward without a graph of its own",
        edits=[
            (LOAD, "        x, beta, keep = (t if t is None else t.detach() for t in ctx.saved_tensors)\n"),
        ],
        check="test_second_order",
    ),
    Wrong(
        "backward under no_grad: once differentiable",
        edits=[
            (
                "    @staticmethod\n    def backward(",
                "    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(",
            )
        ],
        check="test_gradcheck",
    ),
    Wrong(
        "forgets the second term of the product rule",
        edits=[(FOR_X, "            for_x = grad * gate\n")],
        check="test_gradients",
        says="for x",
    ),
    Wrong(
        "forgets that beta is inside of the derivative",
        edits=[(FOR_X, "            for_x = grad * (gate + x * slope)\n")],
        check="test_gradients",
        says="for x",
    ),
    Wrong(
        "one x too few in the gradient of beta",
        edits=[(FOR_BETA, "            for_beta = (grad * x * slope).sum_to_size(beta.shape)\n")],
        check="test_gradients",
        says="for beta",
    ),
    Wrong(
        "the mean over what beta was broadcast to",
        edits=[(FOR_BETA, FOR_BETA.rstrip() + " * (max(beta.numel(), 1) / max(x.numel(), 1))\n")],
        check="test_gradients",
        says="for beta",
    ),
    Wrong(
        "sums over the first dimension only",
        edits=[
            (
                FOR_BETA,
                "            for_beta = grad * x * x * slope\n"
                "            if beta.shape != x.shape:\n"
                "                for_beta = for_beta.sum(0)\n",
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "forgets the scale on the way back",
        edits=[("_hide(grad, keep) * ctx.scale", "_hide(grad, keep)")],
        check="test_second_order",
    ),
    Wrong(
        "forgets the mask on the way back",
        edits=[(HIDE, "        grad = grad * ctx.scale\n")],
        check="test_second_order",
    ),
    Wrong(
        "keeps the scale on the class: the last call wins",
        edits=[
            ("        ctx.scale = scale\n", "        Swish.scale = scale\n"),
            ("* ctx.scale", "* Swish.scale"),
        ],
        check="test_calls_do_not_mix",
    ),
    Wrong(
        "multiplies with the mask: inf times 0 is NaN",
        edits=[("x.masked_fill(~keep, 0.0)", "x * keep")],
        check="test_hidden_numbers",
        says="nan",
    ),
    Wrong(
        "masks the gradient, and not x: NaN comes back in",
        edits=[("x, grad = _hide(x, keep), _hide", "grad = _hide")],
        check="test_hidden_numbers",
        says="nan",
    ),
    Wrong(
        "takes keep for what is to be hidden",
        edits=[("x.masked_fill(~keep, 0.0)", "x.masked_fill(keep, 0.0)")],
        check="test_values",
    ),
    Wrong(
        "ignores keep and scale",
        edits=[(APPLY, "    result: Tensor = Swish.apply(x, beta, None, 1.0)\n    return result\n")],
        check="test_values",
        says="keep and scale are left out",
    ),
    Wrong(
        "the gate by the book: NaN for large numbers on the way back",
        edits=[
            (GATE, "        power = torch.exp(-beta * x)\n        gate = 1 / (1 + power)\n"),
            ("slope = gate * (1 - gate)", "slope = power / (1 + power) ** 2"),
        ],
        check="test_large_numbers",
        says="nan",
    ),
    Wrong(
        "computes in float32",
        edits=[(GATE, "        gate = torch.sigmoid((beta * x).float()).to(x.dtype)\n")],
        check="test_second_order",
    ),
    Wrong(
        "works in place on x",
        edits=[
            (
                FORWARD,
                "        if keep is not None:\n            x.masked_fill_(~keep, 0.0)\n" + FORWARD,
            )
        ],
        check="test_gradcheck",
    ),
    Wrong(
        "flattens its input",
        edits=[
            (
                FORWARD,
                FORWARD.replace(
                    "x * torch.sigmoid(beta * x)",
                    "x * torch.sigmoid((beta.expand(x.shape).flatten() * x.view(-1)).view(x.shape))",
                ),
            )
        ],
        check="test_strided_inputs",
    ),
    Wrong(
        "lets PyTorch do it",
        edits=[(APPLY, "    return _hide(scale * x * torch.sigmoid(beta * x), keep)\n")],
        check="test_own_function",
        says="Swish.apply",
    ),
    Wrong(
        "hides the NaN of the gradients at the end: it comes back in the second order",
        edits=[
            (HIDE, "        grad = _hide(grad, keep) * ctx.scale\n"),
            (
                FOR_X,
                FOR_X.replace(
                    "grad * (gate + beta * x * slope)", "_hide(grad * (gate + beta * x * slope), keep)"
                ),
            ),
            (FOR_BETA, FOR_BETA.replace("(grad * x * x * slope)", "_hide(grad * x * x * slope, keep)")),
        ],
        check="test_hidden_numbers",
        says="second-order",
    ),
    Wrong(
        "takes a scale of 0 for none",
        edits=[("Swish.apply(x, beta, keep, scale)", "Swish.apply(x, beta, keep, scale or 1.0)")],
        check="test_values",
        says="scale is left out",
    ),
    Wrong(
        "hides the gradients that go out, not the one that comes in",
        edits=[
            ("_hide(x, keep), _hide(grad, keep) * ctx.scale", "_hide(x, keep), grad * ctx.scale"),
            (
                "for_x = grad * (gate + beta * x * slope)",
                "for_x = _hide(grad * (gate + beta * x * slope), keep)",
            ),
        ],
        check="test_hidden_numbers",
    ),
    Wrong(
        "keeps scale as a tensor of the default dtype",
        edits=[("ctx.scale = scale\n", "ctx.scale = torch.tensor(scale)\n")],
        check="test_second_order",
    ),
    Wrong(
        "makes a mask where there is none, and keeps it",
        edits=[
            (
                "ctx.save_for_backward(x, beta, keep)",
                "keep = torch.ones_like(x) > 0 if keep is None else keep\n        ctx.save_for_backward(x, beta, keep)",
            )
        ],
        check="test_only_inputs_are_saved",
    ),
    Right(
        "setup_context, and autograd's own sum to the shape of beta",
        code="""
import torch

class Swish(torch.autograd.Function):
    @staticmethod
    def forward(scale, keep, beta, x):
        y = x.mul(beta).sigmoid_().mul_(x).mul_(scale)
        return y if keep is None else torch.where(keep, y, torch.zeros_like(y))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale, keep, beta, x = inputs
        ctx.save_for_backward(x, beta, *([] if keep is None else [keep]))

    @staticmethod
    def backward(ctx, grad):
        x, beta, *masks = ctx.saved_tensors
        for keep in masks:
            x = torch.where(keep, x, torch.zeros_like(x))
            grad = torch.where(keep, grad, torch.zeros_like(grad))
        z = beta * x
        s = z.sigmoid()
        outer = ctx.scale * grad * s
        return (
            None,
            None,
            outer * x * x * (1 - s) if ctx.needs_input_grad[2] else None,
            outer * (1 + z * (1 - s)) if ctx.needs_input_grad[3] else None,
        )

def swish(x, beta, keep=None, scale=1.0):
    return Swish.apply(scale, keep, beta, x)
""",
    ),
    Right(
        "the scale outside, beta expanded outside, tanh for the gate",
        code="""
import torch
from torch.autograd import Function

class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta, keep):
        ctx.save_for_backward(x, beta, keep)
        y = x * (0.5 + 0.5 * torch.tanh(0.5 * beta * x))
        if keep is not None:
            y[~keep] = 0
        return y

    @staticmethod
    def backward(ctx, g):
        x, beta, keep = ctx.saved_tensors
        if keep is not None:
            x, g = x.where(keep, x.new_zeros(())), g.where(keep, g.new_zeros(()))
        t = torch.tanh(0.5 * beta * x)
        dx = db = None
        need_x, need_beta, _ = ctx.needs_input_grad
        if need_x:
            dx = g * (0.5 + 0.5 * t + 0.25 * beta * x * (1 - t * t))
        if need_beta:
            db = g * x**2 * (1 - t * t) / 4
        return dx, db, None

def swish(x, beta, keep=None, scale=1.0):
    return Swish.apply(x, beta.expand_as(x), keep) * scale
""",
    ),
    Wrong(
        "sums the gradient of beta over the last dim, which is the one of size 1",
        edits=[
            (
                "(grad * x * x * slope).sum_to_size(beta.shape)",
                "grad * x * x * slope\n            for _ in range(x.ndim - beta.ndim):\n                for_beta = for_beta.sum(0)\n"
                "            if for_beta.shape != beta.shape:\n                for_beta = for_beta.sum(-1, keepdim=True)",
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "saves contiguous copies",
        edits=[(SAVE, "        ctx.save_for_backward(x.contiguous(), beta, keep)\n")],
        check="test_inputs_are_watched",
        says="x was changed",
    ),
    Wrong(
        "works in place on x where nothing needs a gradient, to save memory in evaluation",
        edits=[
            (
                "        return _hide(x * torch.sigmoid(beta * x) * scale, keep)",
                "        if keep is None and not any(ctx.needs_input_grad):\n"
                "            return x.mul_(torch.sigmoid(beta * x)).mul_(scale)\n"
                "        return _hide(x * torch.sigmoid(beta * x) * scale, keep)",
            )
        ],
        check="test_values",
        says="changes its input x",
    ),
    Wrong(
        "scales the gradient that comes in in place, where autograd lets it",
        edits=[
            (
                "_hide(grad, keep) * ctx.scale  # (*shape)\n",
                "_hide(grad, keep)\n        may = not torch.is_grad_enabled() and grad.is_contiguous()\n"
                "        grad = grad.mul_(ctx.scale) if may else grad * ctx.scale\n",
            )
        ],
        check="test_calls_do_not_mix",
        says="changes its input gradient",
    ),
    Wrong(
        "leaves the derivative to autograd",
        code="""
import torch
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta, keep, scale):
        ctx.save_for_backward(x, beta, keep)
        ctx.scale = scale
        y = scale * x * torch.sigmoid(beta * x)
        return y if keep is None else torch.where(keep, y, 0.0)

    @staticmethod
    def backward(ctx, grad):
        x, beta, keep = ctx.saved_tensors
        if keep is not None:
            x, grad = x.masked_fill(~keep, 0.0), grad.masked_fill(~keep, 0.0)
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            if not again:
                x, beta = x.detach().requires_grad_(), beta.detach().requires_grad_()
            y = ctx.scale * x * torch.sigmoid(beta * x)
            wanted = [t for t, need in zip((x, beta), ctx.needs_input_grad) if need]
            grads = iter(torch.autograd.grad(y, wanted, grad, create_graph=again))
        return *(next(grads) if need else None for need in ctx.needs_input_grad[:2]), None, None

def swish(x, beta, keep=None, scale=1.0):
    return Swish.apply(x, beta, keep, scale)
""",
        check="test_backward_computes",
        says="leaves the derivative to autograd",
    ),
    Wrong(
        "sums over the dimensions that grow, and an empty one does not",
        edits=[
            (
                FOR_BETA,
                """            for_beta = grad * x * x * slope
            extra = x.dim() - beta.dim()
            sizes = zip(x.shape[extra:], beta.shape)
            dims = [*range(extra), *(extra + i for i, (more, n) in enumerate(sizes) if more > n)]
            for_beta = (for_beta.sum(dims, keepdim=True) if dims else for_beta).reshape(beta.shape)
""",
            )
        ],
        check="test_gradients",
        says="size 0",
    ),
    Wrong(
        "hides x, but of the gradient that comes in only what it makes",
        edits=[
            (HIDE, "        x, grad = _hide(x, keep), grad * ctx.scale\n"),
            (FOR_X, "            for_x = _hide(grad * (gate + beta * x * slope), keep)\n"),
            (FOR_BETA, "            for_beta = _hide(grad * x * x * slope, keep).sum_to_size(beta.shape)\n"),
        ],
        check="test_hidden_numbers",
        says="second-order gradient for beta",
    ),
    Wrong(
        "detaches what it thinks nobody derives by",
        edits=[
            (
                GATE,
                "        if not all(ctx.needs_input_grad[:2]):\n            grad = grad.detach()\n" + GATE,
            )
        ],
        check="test_each_alone",
        says="second order",
    ),
    Wrong(
        "makes 0 of every NaN that comes in",
        edits=[(HIDE, HIDE.replace("_hide(grad, keep)", "_hide(grad.nan_to_num(), keep)"))],
        check="test_hidden_numbers",
        says="are NaN",
    ),
    Wrong(
        "makes finite numbers of the hidden ones, which are inf again when multiplied",
        edits=[(HIDE, HIDE.replace("_hide(x, keep)", "x if keep is None else x.nan_to_num()"))],
        check="test_hidden_numbers",
    ),
]
