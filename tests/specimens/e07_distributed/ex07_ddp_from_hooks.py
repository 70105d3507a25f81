"""Answers to ddp_from_hooks that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BROADCAST = """        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)  # in place: optimizers go on holding the same tensors
"""
HOOKS = """        for p in module.parameters():  # each once, tied or not
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._send)
"""
SEND = """        work = dist.all_reduce(p.grad, async_op=True)  # all ranks come here in the same order
        self._in_flight.append((p.grad, work))
"""
CALL = "        return self.module(*args, **kwargs)\n"
DIVIDE = "            grad /= dist.get_world_size()  # not before: the sum is still being made\n"
FINISH = (
    """        for grad, work in self._in_flight:
            work.wait()
"""
    + DIVIDE
    + "        self._in_flight.clear()\n"
)
LATER = """        for p in self.module.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()
"""

SPECIMENS = [
    Wrong(
        "each rank keeps its own start",
        edits=[(BROADCAST, "")],
        rung="job",
        check="test_start",
        says="what this rank came with",
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
        rung="job",
        check="test_start",
        says="replaces",
    ),
    Wrong(
        "everything after the backward",
        edits=[(HOOKS, ""), (FINISH, LATER)],
        rung="job",
        check="test_sent_during_the_backward",
        says="have set out",
    ),
    Wrong(
        "waits in the hook",
        edits=[
            (SEND, "        dist.all_reduce(p.grad)\n        p.grad /= dist.get_world_size()\n"),
            (FINISH, "        pass\n"),
        ],
        rung="job",
        check="test_the_backward_waits_for_nobody",
        says="waits in all_reduce",
    ),
    Wrong(
        "sums",
        edits=[(DIVIDE, "")],
        rung="job",
        check="test_steps_of_one_process",
        says="the gradients are summed",
    ),
    Wrong(
        "old handles stay, and divide again",
        edits=[("        self._in_flight.clear()\n", "")],
        rung="fine",
        check="test_tied_frozen_and_unused",
        says="in step 2",
    ),
    Wrong(
        "positional arguments only",
        edits=[("return self.module(*args, **kwargs)", "return self.module(*args)")],
        rung="job",
        check="test_calls",
    ),
    Wrong(
        "forgets the buffers",
        edits=[("(*module.parameters(), *module.buffers())", "module.parameters()")],
        rung="fine",
        check="test_buffers",
        says="running_mean after wrapping",
    ),
    Wrong(
        "the state dict: no buffer outside it",
        edits=[("(*module.parameters(), *module.buffers())", "module.state_dict().values()")],
        rung="fine",
        check="test_buffers",
        says="ids",
    ),
    Wrong(
        "a hook on every parameter",
        edits=[("            if p.requires_grad:\n                p.register", "            p.register")],
        rung="fine",
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
        rung="fine",
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
                p.grad = p.new_zeros(p.shape)
""",
            )
        ],
        rung="fine",
        check="test_tied_frozen_and_unused",
        says="it has no gradient",
    ),
    Wrong(
        "sends a contiguous copy, which is the gradient itself only where that is contiguous",
        edits=[("dist.all_reduce(p.grad,", "dist.all_reduce(p.grad.contiguous(),")],
        rung="fine",
        check="test_transposed",
    ),
    Wrong(
        "sends the buffers round in every forward",
        edits=[(CALL, "        for b in self.buffers():\n            dist.broadcast(b, 0)\n" + CALL)],
        rung="fine",
        check="test_messages",
        says="broadcast",
    ),
    Works(
        "as students write it: parameters only, a sum, divided at the end for all",
        code="""
import torch
import torch.distributed as dist
import torch.nn as nn


class DataParallelModel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.world_size = dist.get_world_size()
        self.handles = []
        for param in self.module.parameters():
            dist.broadcast(param.data, src=0)
            param.register_post_accumulate_grad_hook(self._hook)

    def _hook(self, param):
        handle = dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM, async_op=True)
        self.handles.append(handle)

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    def finish_gradients(self):
        for handle in self.handles:
            handle.wait()
        self.handles.clear()
        for param in self.module.parameters():
            param.grad /= self.world_size
""",
    ),
    Works(
        "divides first, a list of handles, a barrier for safety",
        code="""
import torch
import torch.distributed as dist
import torch.nn as nn


class DataParallelModel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.handles = []
        with torch.no_grad():
            for p in module.parameters():
                dist.broadcast(p, src=0)
        dist.barrier()
        for p in module.parameters():
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self.make_hook())

    def make_hook(self):
        def hook(p):
            p.grad.div_(dist.get_world_size())
            self.handles.append(dist.all_reduce(p.grad, async_op=True))

        return hook

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def finish_gradients(self):
        for handle in self.handles:
            handle.wait()
        self.handles = []
        dist.barrier()
""",
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
                "    def _send(self, p: Tensor) -> None:\n" + SEND,
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
]
