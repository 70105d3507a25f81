"""Answers to custom_function that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SAVE = "        ctx.save_for_backward(x, beta)\n        ctx.scale = scale\n"
VALUE = "        return x * torch.sigmoid(beta * x) * scale  # (*shape)\n"
LOAD = "        x, beta = ctx.saved_tensors\n"
GATE = "        gate = torch.sigmoid(beta * x)  # (*shape)\n"
FOR_X = "grad * ctx.scale * (gate + beta * x * slope)"
FOR_BETA = "(grad * ctx.scale * x * x * slope).sum_to_size(beta.shape)"

SPECIMENS = [
    Wrong(
        "PyTorch's own backward: no Function takes part",
        edits=[
            (
                "    result: Tensor = Swish.apply(x, beta, scale)\n",
                "    result = scale * x * torch.sigmoid(beta * x)\n",
            )
        ],
        check="test_own_function",
        says="no result of Swish.apply",
        rung="job",
    ),
    Wrong(
        "scale is left out of backward",
        edits=[(FOR_X, FOR_X.replace("ctx.scale * ", "")), (FOR_BETA, FOR_BETA.replace("ctx.scale * ", ""))],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "scale is ignored",
        edits=[(VALUE, VALUE.replace(" * scale", ""))],
        check="test_worked_example",
        says="scale is ignored",
        rung="job",
    ),
    Wrong(
        "forgets the gradient that comes in",
        edits=[(FOR_X, FOR_X.replace("grad * ", "")), (FOR_BETA, FOR_BETA.replace("grad * ", ""))],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "a mean over what beta was broadcast to",
        edits=[(FOR_BETA, "(grad * ctx.scale * x * x * slope).mean().expand(beta.shape)")],
        check="test_worked_example",
        says="gradients add up",
        rung="job",
    ),
    Wrong(
        "a gradient short: one for each tensor",
        edits=[("return for_x, for_beta, None", "return for_x, for_beta")],
        check="test_worked_example",
        says="gradients",
        rung="job",
    ),
    Wrong(
        "saves the gate",
        edits=[
            (
                SAVE,
                "        gate = torch.sigmoid(beta * x)\n        ctx.save_for_backward(x, beta, gate)\n        ctx.scale = scale\n",
            ),
            (LOAD, "        x, beta, gate = ctx.saved_tensors\n"),
            (GATE, ""),
        ],
        check="test_only_inputs_are_kept",
        says="saves more",
        rung="job",
    ),
    Wrong(
        "keeps the gate on ctx",
        edits=[
            (SAVE, SAVE + "        ctx.gate = torch.sigmoid(beta * x)\n"),
            (GATE, "        gate = ctx.gate\n"),
        ],
        check="test_only_inputs_are_kept",
        says="holds more",
        rung="job",
    ),
    Wrong(
        "inputs as attributes of ctx",
        edits=[
            ("        ctx.save_for_backward(x, beta)\n", "        ctx.x, ctx.beta = x, beta\n"),
            (LOAD, "        x, beta = ctx.x, ctx.beta\n"),
        ],
        check="test_inputs_are_watched",
    ),
    Wrong(
        "once_differentiable",
        edits=[
            (
                "    @staticmethod\n    def backward(",
                "    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(",
            )
        ],
        check="test_second_order",
    ),
    Wrong(
        "computes both gradients always",
        edits=[
            ("        if ctx.needs_input_grad[0]:\n            ", "        "),
            ("        if ctx.needs_input_grad[1]:\n            ", "        "),
        ],
        check="test_only_what_is_needed",
        says="nobody asked for",
    ),
    Wrong(
        "sums over the batch, or over everything: no other shapes",
        edits=[
            (
                "            for_beta = " + FOR_BETA,
                "            for_beta = grad * ctx.scale * x * x * slope\n"
                "            for_beta = for_beta.sum(0) if beta.dim() else for_beta.sum()",
            )
        ],
        check="test_gradients_for_beta_of_other_shapes",
    ),
    Wrong(
        "scales the incoming gradient in place",
        edits=[
            (GATE, GATE + "        with torch.no_grad():\n            grad.mul_(ctx.scale)\n"),
            (FOR_X, FOR_X.replace("ctx.scale * ", "")),
            (FOR_BETA, FOR_BETA.replace("ctx.scale * ", "")),
        ],
        check="test_incoming_gradient_is_left_alone",
    ),
    Works(
        "as the page on extending PyTorch has it",
        code="""
import torch
from torch.autograd import Function

class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta, scale):
        ctx.save_for_backward(x, beta)
        ctx.scale = scale
        return scale * x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad_output):
        x, beta = ctx.saved_tensors
        grad_x = grad_beta = None
        g = torch.sigmoid(beta * x)
        if ctx.needs_input_grad[0]:
            grad_x = grad_output * ctx.scale * (g + beta * x * g * (1 - g))
        if ctx.needs_input_grad[1]:
            grad_beta = grad_output * ctx.scale * x ** 2 * g * (1 - g)
            grad_beta = grad_beta.sum(0) if beta.dim() == 1 else grad_beta.sum()
        return grad_x, grad_beta, None

def swish(x, beta, scale=1.0):
    return Swish.apply(x, beta, scale)
""",
    ),
    Works(
        "forward apart from setup_context; both gradients always, once",
        code="""
import torch
from torch.autograd.function import once_differentiable

class Swish(torch.autograd.Function):
    @staticmethod
    def forward(x, beta, scale):
        return x * torch.sigmoid(beta * x) * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, beta, scale = inputs
        ctx.save_for_backward(x, beta)
        ctx.scale = scale

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, beta = ctx.saved_tensors
        g = torch.sigmoid(beta * x)
        grad_x = grad * ctx.scale * (g + beta * x * g * (1 - g))
        grad_beta = (grad * ctx.scale * x * x * g * (1 - g)).sum_to_size(beta.shape)
        return grad_x, grad_beta, None

def swish(x, beta, scale=1.0):
    return Swish.apply(x, beta, scale)
""",
    ),
    Right(
        "scale in front, gradients by 1 - sigmoid(-z)",
        code="""
import torch

class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scale, beta, x):
        ctx.factor = scale
        ctx.save_for_backward(beta, x)
        return scale * x / (1 + torch.exp(-beta * x))

    @staticmethod
    def backward(ctx, grad):
        beta, x = ctx.saved_tensors
        open_, shut = torch.sigmoid(beta * x), torch.sigmoid(-beta * x)
        grads = [None, None, None]
        if ctx.needs_input_grad[2]:
            grads[2] = ctx.factor * grad * open_ * (1 + beta * x * shut)
        if ctx.needs_input_grad[1]:
            grads[1] = (ctx.factor * grad * x.square() * open_ * shut).sum_to_size(beta.shape)
        return tuple(grads)

def swish(x, beta, scale=1.0):
    return Swish.apply(scale, beta, x)
""",
    ),
    Right(
        "torch.func's style, with generate_vmap_rule",
        code="""
import torch

class Swish(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, beta, scale):
        return scale * (x * (beta * x).sigmoid())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.scale = inputs[2]

    @staticmethod
    def backward(ctx, dy):
        x, beta = ctx.saved_tensors
        z = beta * x
        g = z.sigmoid()
        need_x, need_beta, _ = ctx.needs_input_grad
        dx = dy * ctx.scale * g * (1 + z * (1 - g)) if need_x else None
        db = (dy * ctx.scale * g * (1 - g) * x.pow(2)).sum_to_size(beta.size()) if need_beta else None
        return dx, db, None

def swish(x, beta, scale=1.0):
    return Swish.apply(x, beta, scale)
""",
    ),
]
