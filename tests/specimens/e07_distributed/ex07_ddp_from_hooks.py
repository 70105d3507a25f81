"""Answers to ddp_from_hooks that people write."""

from grader.authoring.specimen import Right, Wrong

BROADCAST = """        with torch.no_grad():
            for tensor in (*module.parameters(), *module.buffers()):
                whole = tensor.contiguous()  # what lies between the numbers of a column must not travel
                dist.broadcast(whole.view(-1).view(torch.uint8), src=0)  # gloo knows not every dtype
                tensor.copy_(whole)  # in place: optimizers go on holding the same tensors
"""
HOOKS = """        for p in module.parameters():  # each once, tied or not
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._send)
"""
WHOLE = "        p.grad = p.grad.contiguous()  # all_reduce takes memory as it lies, too\n"
SEND = """        work = dist.all_reduce(p.grad, async_op=True)
        self._in_flight.append((p.grad, work))
"""
CALL = "        return self.module(*args, **kwargs)\n"
FINISH = """        for grad, work in self._in_flight:
            work.wait()
            grad /= dist.get_world_size()  # not before: the sum is still being made
        self._in_flight.clear()
"""
LATER = """        for p in self.module.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()
"""

SPECIMENS = [
    Wrong(
        "keeps the messages of all steps, and writes the old ones once more",
        edits=[
            (
                SEND,
                SEND.replace("(p.grad, async_op=True)", "(whole, async_op=True)")
                .replace("(p.grad,", "(p, whole,")
                .replace(
                    "        work",
                    "        whole = p.grad.clone(memory_format=torch.contiguous_format)\n        work",
                    1,
                ),
            ),
            (
                FINISH,
                "        for p, whole, work in self._in_flight:\n            work.wait()\n"
                "            if p.grad is not None:\n                p.grad.copy_(whole / dist.get_world_size())\n",
            ),
        ],
        check="test_tied_frozen_and_unused",
        says="set to zero",
    ),
    Wrong(
        "hides NaN from the other ranks",
        edits=[(SEND, "        p.grad.nan_to_num_()\n" + SEND)],
        check="test_waits_in_finish_gradients_only",
        says="not NaN",
    ),
    Wrong(
        "each rank keeps its own start",
        edits=[(BROADCAST, "")],
        check="test_start",
        says="after wrapping, on rank 1",
    ),
    Wrong(
        "forgets the buffers",
        edits=[("(*module.parameters(), *module.buffers())", "module.parameters()")],
        check="test_start",
    ),
    Wrong(
        "the state dict: no buffer outside it",
        edits=[("(*module.parameters(), *module.buffers())", "module.state_dict().values()")],
        check="test_start",
        says="order",
    ),
    Wrong(
        "new parameters, which the optimizer does not hold",
        edits=[
            (
                BROADCAST,
                """        for part in module.modules():
            for name, p in part.named_parameters(recurse=False):
                dist.broadcast(p.data, 0)
                setattr(part, name, nn.Parameter(p.detach().clone(), p.requires_grad))
            for buffer in part.buffers(recurse=False):
                dist.broadcast(buffer, 0)
""",
            )
        ],
        check="test_start",
        says="replaces",
    ),
    Wrong(
        "makes frozen parameters trainable, for their hooks",
        edits=[
            (
                "            if p.requires_grad:\n                p.register",
                "            p.requires_grad_()\n            p.register",
            )
        ],
        check="test_start",
        says="requires_grad",
    ),
    Wrong(
        "a hook on every parameter",
        edits=[("            if p.requires_grad:\n                p.register", "            p.register")],
        check="test_tied_frozen_and_unused",
        says="RuntimeError",
    ),
    Wrong(
        "two hooks for tied weights",
        edits=[
            (
                "for p in module.parameters():  # each",
                "for _, p in module.named_parameters(remove_duplicate=False):  # each",
            )
        ],
        check="test_tied_frozen_and_unused",
    ),
    Wrong(
        "everything after the backward",
        edits=[(SEND, "        pass\n"), (FINISH, LATER)],
        check="test_messages",
        says="sent once the backward has passed the last layer",
    ),
    Wrong(
        "waits in the hook",
        edits=[
            (SEND, "        dist.all_reduce(p.grad)\n        p.grad /= dist.get_world_size()\n"),
            (FINISH, "        pass\n"),
        ],
        check="test_waits_in_finish_gradients_only",
        says="waits in all_reduce",
    ),
    Wrong(
        "never waits",
        edits=[("            work.wait()\n", "")],
        check="test_waits_in_finish_gradients_only",
    ),
    Wrong(
        "sums",
        edits=[
            ("            grad /= dist.get_world_size()  # not before: the sum is still being made\n", "")
        ],
        check="test_steps_of_one_process",
        says="of 2",
    ),
    Wrong(
        "two ranks for ever",
        edits=[("grad /= dist.get_world_size()", "grad /= 2")],
        check="test_steps_of_one_process",
    ),
    Wrong(
        "old handles stay, and divide again",
        edits=[("        self._in_flight.clear()\n", "")],
        check="test_steps_of_one_process",
        says="after step 2",
    ),
    Wrong(
        "old handles stay, and write their averages before the new ones do",
        edits=[
            ("self._in_flight.append((p.grad, work))", "self._in_flight.append((p, p.grad, work))"),
            ("for grad, work in self._in_flight", "for p, grad, work in self._in_flight"),
            (
                "            grad /= dist.get_world_size()  # not before: the sum is still being made\n"
                "        self._in_flight.clear()\n",
                "            p.grad.copy_(grad / dist.get_world_size())\n",
            ),
        ],
        check="test_tied_frozen_and_unused",
    ),
    Wrong(
        "divides every gradient, sent or not",
        edits=[
            (
                FINISH,
                """        for _, work in self._in_flight:
            work.wait()
        for p in self.module.parameters():
            p.grad /= dist.get_world_size()
        self._in_flight.clear()
""",
            )
        ],
        check="test_tied_frozen_and_unused",
    ),
    Wrong(
        "zeros for parameters without a gradient",
        edits=[
            (
                FINISH,
                FINISH
                + """        for p in self.module.parameters():
            if p.grad is None:
                p.grad = torch.zeros_like(p)
""",
            )
        ],
        check="test_tied_frozen_and_unused",
        says="None",
    ),
    Wrong(
        "gathers the gradients of all",
        edits=[
            (
                SEND,
                """        parts = [torch.empty_like(p.grad) for _ in range(dist.get_world_size())]
        work = dist.all_gather(parts, p.grad, async_op=True)
        self._in_flight.append((p.grad, parts, work))
""",
            ),
            (
                FINISH,
                """        for grad, parts, work in self._in_flight:
            work.wait()
            grad.copy_(sum(parts) / len(parts))
        self._in_flight.clear()
""",
            ),
        ],
        check="test_messages",
        says="all_gather",
    ),
    Wrong(
        "a barrier to be sure",
        edits=[(FINISH, FINISH + "        dist.barrier()\n")],
        check="test_messages",
        says="barrier",
    ),
    Wrong(
        "sends the buffers round in every forward",
        edits=[(CALL, "        for b in self.buffers():\n            dist.broadcast(b, 0)\n" + CALL)],
        check="test_messages",
        says="messages of a forward",
    ),
    Wrong(
        "gradients of one use, by a hook in the module's backward",
        edits=[
            (
                HOOKS,
                """        for part in module.modules():
            part.register_full_backward_hook(self._part)

    def _part(self, part, *_):
        for p in part.parameters(recurse=False):
            if p.grad is not None:
                self._send(p)
""",
            )
        ],
        check="test_steps_of_one_process",
    ),
    Wrong(
        "positional arguments only",
        edits=[("return self.module(*args, **kwargs)", "return self.module(*args)")],
        check="test_calls",
    ),
    Wrong(
        "the module in a list, out of reach of modes",
        edits=[
            ("        self.module = module\n", "        self._modules_ = [module]\n"),
            (
                "    def _send(",
                "    @property\n    def module(self):\n        return self._modules_[0]\n\n    def _send(",
            ),
        ],
        check="test_calls",
        says="mode",
    ),
    Wrong(
        "broadcasts memory as it lies",
        edits=[("whole.view(-1).view(torch.uint8), src", "tensor, src"), ("tensor.contiguous()", "tensor")],
        check="test_start",
        says="column after wrapping",
    ),
    Wrong(
        "everything in training mode",
        edits=[(BROADCAST, "        self.train()\n" + BROADCAST)],
        check="test_start",
        says="or a mode",
    ),
    Wrong(
        "the first of several results",
        edits=[
            (
                CALL,
                """        result = self.module(*args, **kwargs)
        return result[0] if isinstance(result, tuple) else result
""",
            )
        ],
        check="test_calls",
        says="a module that returns a tuple",
    ),
    Wrong(
        "sends everything as float32",
        edits=[("tensor.contiguous()", "tensor.contiguous().float()")],
        check="test_start",
        says="large after wrapping",
    ),
    Wrong(
        "sends in training mode only",
        edits=[(SEND, "        if not self.training:\n            return\n" + SEND)],
        check="test_steps_of_one_process",
        says="in eval mode",
    ),
    Wrong(
        "at most eight messages under way",
        edits=[
            (
                SEND,
                "        if len(self._in_flight) >= 8:\n            self._in_flight[-8][1].wait()\n" + SEND,
            )
        ],
        check="test_waits_in_finish_gradients_only",
        says="wait",
    ),
    Wrong(
        "sends buffers in every forward in eval mode",
        edits=[
            (
                CALL,
                "        if not self.training:\n            for b in self.module.buffers():\n"
                "                dist.broadcast(b, 0)\n" + CALL,
            )
        ],
        check="test_messages",
        says="of one in eval mode",
    ),
    Wrong(
        "single numbers can wait",
        edits=[
            (
                SEND,
                "        if p.dim():\n            self._set_out(p)\n\n    def _set_out(self, p):\n" + SEND,
            ),
            (
                FINISH,
                "        for p in self.module.parameters():\n            if not p.dim() and p.grad is not None:\n"
                "                self._set_out(p)\n" + FINISH,
            ),
        ],
        check="test_messages",
        says="a scale",
    ),
    Wrong(
        "the module's forward, without its hooks",
        edits=[(CALL, CALL.replace("self.module(", "self.module.forward("))],
        check="test_calls",
        says="forward hook",
    ),
    Wrong(
        "the number of ranks that torchrun would tell",
        edits=[
            ("grad /= dist.get_world_size()", 'grad /= int(os.environ.get("WORLD_SIZE", "1"))'),
            ("from typing import Any", "import os\nfrom typing import Any"),
        ],
        check="test_steps_of_one_process",
    ),
    Wrong(
        "everything through float64",
        edits=[("whole = tensor.contiguous()", "whole = tensor.double().contiguous()")],
        check="test_start",
        says="large",
    ),
    Right(
        "closures, averages before sending, flat views",
        edits=[
            (
                BROADCAST + HOOKS,
                """        for t in module.buffers():
            t.copy_(self._first(t.detach()))
        for p in module.parameters():
            p.data.copy_(self._first(p.data))
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._sender(dist.get_world_size()))
""",
            ),
            (
                """    def _send(self, p: Tensor) -> None:
        \"\"\"Set out the sum over the ranks. All of them call this in the same order.\"\"\"
"""
                + WHOLE
                + SEND,
                """    def _first(self, t):
        flat = t.reshape(-1).clone()
        dist.broadcast(flat, 0)
        return flat.view(t.shape)

    def _sender(self, world):
        def hook(p):
            p.grad.div_(world)
            self._in_flight.append(dist.all_reduce(p.grad, dist.ReduceOp.SUM, async_op=True))

        return hook
""",
            ),
            (
                FINISH,
                """        while self._in_flight:
            self._in_flight.pop().wait()
""",
            ),
        ],
    ),
    Right(
        "objects from rank 0, futures, and averages in a dict",
        edits=[
            (
                BROADCAST,
                """        everything = [[t.detach() for t in (*module.parameters(), *module.buffers())]]
        mine = everything[0]
        dist.broadcast_object_list(everything, 0)
        for t, first in zip(mine, everything[0]):
            t.copy_(first)
""",
            ),
            ("self._in_flight: list[tuple[Tensor, dist.Work]] = []", "self._in_flight = {}"),
            (
                SEND,
                """        total = p.grad.clone()
        self._in_flight[p] = total, dist.all_reduce(total, async_op=True).get_future()
""",
            ),
            (
                FINISH,
                """        for p, (total, future) in self._in_flight.items():
            future.wait()
            p.grad = total.true_divide(dist.get_world_size())
        self._in_flight = {}
""",
            ),
        ],
    ),
    Wrong(
        "sends no gradient of zeros",
        code="""
import torch
import torch.distributed as dist
from torch import nn
class DataParallelModel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self._pending = []
        with torch.no_grad():
            for t in (*module.parameters(), *module.buffers()):
                buffer = t.detach().contiguous()
                dist.broadcast(buffer, 0)
                t.copy_(buffer)
        for p in module.parameters():
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._send)
    def _send(self, p):
        if not p.grad.any():
            return
        buffer = p.grad.contiguous().clone()
        self._pending.append((p, buffer, dist.all_reduce(buffer, async_op=True)))
    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)
    def finish_gradients(self):
        n = dist.get_world_size()
        pending, self._pending = self._pending, []
        for p, buffer, work in pending:
            work.wait()
            p.grad.copy_(buffer / n)
""",
        check="test_messages",
        says="all_reduce",
    ),
    Wrong(
        "sends a contiguous copy of the gradient, which is the gradient itself only where that is contiguous",
        edits=[(WHOLE, ""), ("dist.all_reduce(p.grad,", "dist.all_reduce(p.grad.contiguous(),")],
        check="test_steps_of_one_process",
        says="gradient of 0.weight",
    ),
    Right(
        "sends contiguous copies, which finish_gradients copies back",
        edits=[
            (
                SEND,
                SEND.replace("p.grad", "packed")
                .replace("        work", "        packed = p.grad.contiguous()\n        work", 1)
                .replace("(packed, work)", "((p.grad, packed), work)"),
            ),
            (
                FINISH,
                FINISH.replace(
                    "grad /= dist.get_world_size()", "grad[0].copy_(grad[1] / dist.get_world_size())"
                ),
            ),
        ],
    ),
]
