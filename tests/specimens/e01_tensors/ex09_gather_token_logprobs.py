"""Answers to gather_token_logprobs that people write."""

from grader.authoring.specimen import Right, Wrong

SOFTMAX = "    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)\n"
PICK = """    picked = logprobs.gather(-1, targets.unsqueeze(-1))  # (batch, time, 1)
    return picked.squeeze(-1)  # (batch, time)
"""
UPCAST = """    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
"""

SPECIMENS = [
    Wrong(
        "zeros for a vocabulary of one token, which no gradient can pass",
        edits=[
            (
                SOFTMAX,
                "    if logits.shape[-1] == 1:\n        return torch.zeros_like(logits[..., 0])\n" + SOFTMAX,
            )
        ],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "takes token 0 for padding",
        edits=[
            ("    return picked.squeeze(-1)", "    return picked.squeeze(-1).masked_fill(targets == 0, 0)")
        ],
        check="test_half_precision_is_computed_in_float32",
    ),
    Wrong(
        "log of softmax: -inf for unlikely tokens",
        edits=[(".log_softmax(dim=-1)", ".softmax(dim=-1).log()")],
        check="test_large_logits",
    ),
    Wrong(
        "logsumexp without the shift",
        edits=[(SOFTMAX, "    logprobs = logits - logits.exp().sum(-1, keepdim=True).log()\n")],
        check="test_large_logits",
    ),
    Wrong(
        "normalises along time",
        edits=[(".log_softmax(dim=-1)", ".log_softmax(dim=1)")],
        check="test_log_probability_of_each_target",
        says="runs over time",
    ),
    Wrong(
        "forgets to normalise",
        edits=[(SOFTMAX, "    logprobs = logits\n")],
        check="test_log_probability_of_each_target",
        says="not normalised",
    ),
    Wrong(
        "one-hot times log-probabilities: zero times -inf is NaN",
        edits=[
            (
                PICK,
                "    one_hot = torch.nn.functional.one_hot(targets, logits.shape[-1])\n    return (logprobs * one_hot).sum(-1)\n",
            )
        ],
        check="test_forbidden_tokens",
    ),
    Wrong(
        "makes forbidden tokens very unlikely instead",
        edits=[(SOFTMAX, "    logprobs = logits.clamp(min=-20000.0).log_softmax(dim=-1)\n")],
        check="test_forbidden_tokens",
    ),
    Wrong(
        "-1000 for forbidden tokens, put back afterwards",
        edits=[
            (
                SOFTMAX,
                "    allowed = logits > -float('inf')\n"
                "    logprobs = logits.masked_fill(~allowed, -1e3).log_softmax(-1).masked_fill(~allowed, -float('inf'))\n",
            )
        ],
        check="test_forbidden_tokens",
    ),
    Wrong(
        "cuts the graph where it upcasts",
        edits=[("logits.float()", "logits.data.float()")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "a size of -1, which no positions do not tell",
        edits=[("    return picked.squeeze(-1)", "    return picked.reshape(len(logits), -1)")],
        check="test_sizes_of_one_and_empty",
    ),
    Wrong(
        "where with a forbidden branch: NaN gradients",
        edits=[
            (
                SOFTMAX,
                "    top = logits.amax(-1, keepdim=True)\n    shifted = logits - top\n    safe = (shifted.exp() * shifted).nan_to_num()\n"
                "    logprobs = shifted - shifted.exp().sum(-1, keepdim=True).log() + 0 * safe.sum(-1, keepdim=True)\n",
            )
        ],
        check="test_gradient_beside_forbidden_tokens",
    ),
    Wrong(
        "shifts the targets by one, as for training",
        edits=[
            (SOFTMAX, "    logprobs = logits.log_softmax(dim=-1)\n    targets = targets.roll(-1, dims=1)\n")
        ],
        check="test_log_probability_of_each_target",
        says="the target of the next one",
    ),
    Wrong(
        "indexes the vocabulary with all targets",
        edits=[(PICK, "    return logprobs[..., targets].squeeze()\n")],
        check="test_log_probability_of_each_target",
    ),
    Wrong(
        "squeezes every dimension of size 1",
        edits=[("picked.squeeze(-1)", "picked.squeeze()")],
        check="test_sizes_of_one_and_empty",
    ),
    Wrong(
        "keeps the last dimension",
        edits=[("picked.squeeze(-1)", "picked")],
        check="test_log_probability_of_each_target",
    ),
    Wrong(
        "computes in half precision, then casts",
        edits=[
            (UPCAST, ""),
            (
                "picked.squeeze(-1)",
                "picked.squeeze(-1).float() if logits.dtype.itemsize == 2 else picked.squeeze(-1)",
            ),
        ],
        check="test_half_precision_is_computed_in_float32",
    ),
    Wrong(
        "upcasts float16 only",
        edits=[("(torch.float16, torch.bfloat16)", "(torch.float16,)")],
        check="test_half_precision_is_computed_in_float32",
    ),
    Wrong(
        "casts everything to float32",
        edits=[(UPCAST, "    logits = logits.float()\n")],
        check="test_float64_is_kept",
        says="float64",
    ),
    Wrong(
        "the loss, not the log-probability",
        edits=[("return picked", "return -picked")],
        check="test_log_probability_of_each_target",
    ),
    Wrong(
        "in base 2",
        edits=[("return picked.squeeze(-1)", "return picked.squeeze(-1) / 0.6931471805599453")],
        check="test_log_probability_of_each_target",
    ),
    Wrong(
        "a constant normaliser: no gradient for the other tokens",
        edits=[(SOFTMAX, "    logprobs = logits - logits.detach().logsumexp(-1, keepdim=True)\n")],
        check="test_gradient",
    ),
    Wrong(
        "cuts the graph",
        edits=[("logits.log_softmax", "logits.data.log_softmax")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "shifts the caller's logits in place",
        edits=[
            (
                SOFTMAX,
                "    logits.data.sub_(logits.data.amax(-1, keepdim=True))\n    logprobs = logits.log_softmax(dim=-1)\n",
            )
        ],
        check="test_strided_inputs",
        says="changes",
    ),
    Wrong(
        "views both as flat",
        edits=[
            (
                PICK,
                "    flat = logits.view(-1, logits.shape[-1]).log_softmax(-1)\n"
                "    return flat.gather(1, targets.view(-1, 1)).view(targets.shape)\n",
            )
        ],
        check="test_strided_inputs",
    ),
    Wrong(
        "picks by a boolean index, whose size the host waits for",
        edits=[
            (
                PICK,
                "    classes = torch.arange(logits.shape[-1], device=logits.device)\n"
                "    return logprobs[targets.unsqueeze(-1) == classes].view(targets.shape)\n",
            )
        ],
        check="test_stays_on_the_device",
        says="copies to the host",
    ),
    Wrong(
        "a mask made on the CPU",
        edits=[
            (
                PICK,
                "    is_target = targets.unsqueeze(-1) == torch.arange(logits.shape[-1])\n"
                "    return logprobs.masked_fill(~is_target, 0).sum(-1)\n",
            )
        ],
        check="test_stays_on_the_device",
    ),
    Wrong(
        "asks for values to check the targets",
        edits=[(SOFTMAX, "    assert targets.numel() == 0 or targets.max() < logits.shape[-1]\n" + SOFTMAX)],
        check="test_stays_on_the_device",
        says="copies to the host",
    ),
    Wrong(
        "a loop over the batch",
        edits=[
            (
                PICK,
                "    rows = [p.gather(1, t.unsqueeze(1)).squeeze(1) for p, t in zip(logprobs, targets)]\n"
                "    return torch.stack(rows) if rows else logprobs[:, :, 0]\n",
            )
        ],
        check="test_no_loop",
        says="grows with batch",
    ),
    Wrong(
        "a loop over time",
        edits=[
            (
                PICK,
                "    return torch.stack([logprobs[:, t].gather(1, targets[:, t : t + 1])[:, 0] for t in range(targets.shape[1])], dim=1)\n",
            )
        ],
        check="test_no_loop",
        says="grows with time",
    ),
    Wrong(
        "trusts float64 with the exponentials of any logits",
        edits=[
            (
                "    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)\n",
                "    logprobs = logits.log_softmax(dim=-1)\n"
                "    if logits.dtype == torch.float64:\n"
                "        logprobs = logits - logits.exp().sum(-1, keepdim=True).log()\n",
            )
        ],
        check="test_large_logits",
        says="float64",
    ),
    Wrong(
        "the logarithm of the softmax wherever that is not 0: NaN in the gradient elsewhere",
        edits=[
            (
                "    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)\n",
                "    chances = logits.softmax(dim=-1)\n"
                "    logprobs = torch.where(chances > 0, chances.log(), logits - logits.logsumexp(-1, keepdim=True))\n",
            )
        ],
        check="test_large_logits",
        says="nan",
    ),
    Wrong(
        "zeros of its own making for no targets",
        edits=[
            (
                "    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)\n",
                "    if targets.numel() == 0:\n        return torch.zeros(targets.shape, device=logits.device)\n"
                "    logprobs = logits.log_softmax(dim=-1)\n",
            )
        ],
        check="test_float64_is_kept",
        says="wrong dtype",
    ),
    Right(
        "gathers first, then subtracts the normaliser",
        edits=[
            (SOFTMAX, ""),
            (
                PICK,
                "    chosen = logits.gather(2, targets[:, :, None])[:, :, 0]\n    return chosen - torch.logsumexp(logits, dim=2)\n",
            ),
        ],
    ),
    Right(
        "cross entropy without reduction",
        code="""
import torch
import torch.nn.functional as F

def token_logprobs(logits, targets):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = F.cross_entropy(wide.reshape(-1, wide.size(-1)), targets.reshape(-1), reduction="none")
    return -loss.reshape(targets.shape)
""",
    ),
    Right(
        "three index tensors",
        edits=[
            (
                PICK,
                "    b = torch.arange(logits.shape[0], device=logits.device).unsqueeze(1)\n"
                "    t = torch.arange(logits.shape[1], device=logits.device)\n    return logprobs[b, t, targets]\n",
            )
        ],
    ),
    Right(
        "a categorical distribution",
        edits=[
            (SOFTMAX, ""),
            (
                PICK,
                "    return torch.distributions.Categorical(logits=logits, validate_args=False).log_prob(targets)\n",
            ),
        ],
    ),
    Right(
        "shifted by hand",
        edits=[
            (
                SOFTMAX,
                "    shifted = logits - logits.amax(-1, keepdim=True)\n"
                "    logprobs = shifted - shifted.exp().sum(-1, keepdim=True).log()\n",
            )
        ],
    ),
    Wrong(
        "a backward of one's own that writes over what it has kept",
        code="""
import torch

class LogProb(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        logprobs = logits.log_softmax(-1)
        ctx.probs, ctx.targets = logprobs.exp(), targets.clone()
        return logprobs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)

    @staticmethod
    def backward(ctx, grad):
        out = ctx.probs.mul_(-grad.unsqueeze(-1))
        return out.scatter_add_(-1, ctx.targets.unsqueeze(-1), grad.unsqueeze(-1)), None

def token_logprobs(logits, targets):
    return LogProb.apply(logits.to(torch.promote_types(logits.dtype, torch.float32)), targets)
""",
        check="test_backward_twice",
        says="second backward",
    ),
    Wrong(
        "a backward of one's own that reads the caller's targets",
        code="""
import torch

class LogProb(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        logprobs = logits.log_softmax(-1)
        ctx.save_for_backward(logprobs)
        ctx.targets = targets
        return logprobs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)

    @staticmethod
    def backward(ctx, grad):
        out = ctx.saved_tensors[0].exp().mul_(-grad.unsqueeze(-1))
        return out.scatter_add_(-1, ctx.targets.unsqueeze(-1), grad.unsqueeze(-1)), None

def token_logprobs(logits, targets):
    return LogProb.apply(logits.to(torch.promote_types(logits.dtype, torch.float32)), targets)
""",
        check="test_backward_twice",
        says="changed targets",
    ),
    Wrong(
        "a large finite number for -inf in float64",
        edits=[
            (
                SOFTMAX,
                "    if logits.dtype == torch.float64:\n        logits = logits.clamp(min=-1e300)\n"
                + SOFTMAX,
            )
        ],
        check="test_forbidden_tokens",
        says="float64",
    ),
    Wrong(
        "half precision becomes the default dtype, which is float32 as a rule",
        edits=[(UPCAST, UPCAST.replace("float()", "to(torch.get_default_dtype())"))],
        check="test_half_precision_is_computed_in_float32",
        says="while PyTorch's default",
    ),
    Wrong(
        "computes again in backward, with the targets of then",
        edits=[
            (
                SOFTMAX + PICK,
                """    def pick(logits):
        return logits.log_softmax(dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)

    return torch.utils.checkpoint.checkpoint(pick, logits, use_reentrant=False)
""",
            ),
            ("import torch\n", "import torch\nimport torch.utils.checkpoint\n"),
        ],
        check="test_backward_twice",
        says="changed targets",
    ),
]
