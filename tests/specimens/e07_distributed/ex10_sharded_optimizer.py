"""Answers to sharded_optimizer that people write."""

from grader.authoring.specimen import Right, Wrong

PARAMS = "        self.params = [p for p in params if p.requires_grad]\n"
COPY = "            self.part.copy_(self._mine())  # someone may have loaded other values\n"
GRADIENTS = """            gradients = (torch.zeros_like(p) if p.grad is None else p.grad for p in self.params)
"""
REDUCE = """            self.part.grad = torch.empty_like(self.part)
            dist.reduce_scatter(self.part.grad, list(self._vector(gradients).chunk(self.world_size)))
            self.part.grad /= self.world_size
"""
ZERO = """        for p in self.params:
            p.grad = None
"""
MEAN = "            self.part.grad /= self.world_size\n"
HEAD = '''"""An answer."""

import torch
import torch.distributed as dist


class ShardedOptimizer:
'''

SPECIMENS = [
    Wrong(
        "averages everything everywhere, and steps everything everywhere",
        code=HEAD
        + """    def __init__(self, params, make_optimizer):
        self.params = [p for p in params if p.requires_grad]
        self.optimizer = make_optimizer(self.params)

    def step(self):
        for p in self.params:
            if p.grad is None:
                p.grad = torch.zeros_like(p)
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()
""",
        check="test_memory",
        says="has more than its part",
    ),
    Wrong(
        "shares out whole parameters, and broadcasts each",
        code=HEAD
        + """    def __init__(self, params, make_optimizer):
        self.params = [p for p in params if p.requires_grad]
        rank, world = dist.get_rank(), dist.get_world_size()
        self.twins = [p.detach().clone().requires_grad_() for p in self.params[rank::world]]
        self.optimizer = make_optimizer(self.twins or [torch.zeros(1, requires_grad=True)])

    @torch.no_grad()
    def step(self):
        rank, world = dist.get_rank(), dist.get_world_size()
        for number, p in enumerate(self.params):
            gradient = torch.zeros_like(p) if p.grad is None else p.grad.clone()
            dist.all_reduce(gradient)
            if number % world == rank:
                self.twins[number // world].copy_(p)
                self.twins[number // world].grad = gradient / world
        self.optimizer.step()
        for number, p in enumerate(self.params):
            if number % world == rank:
                p.copy_(self.twins[number // world])
            dist.broadcast(p.data, number % world)

    def zero_grad(self):
        for p in self.params:
            p.grad = None
""",
        check="test_memory",
        says="more than its part",
    ),
    Wrong(
        "an all-reduce where a reduce-scatter is enough",
        edits=[
            (
                REDUCE,
                """            vector = self._vector(gradients)
            dist.all_reduce(vector)
            self.part.grad = vector[self.start : self.start + self.size] / self.world_size
""",
            )
        ],
        check="test_messages",
        says="all_reduce",
    ),
    Wrong(
        "waits for everyone before it starts",
        edits=[(COPY, COPY + "            dist.barrier()\n")],
        check="test_messages",
        says="barrier",
    ),
    Wrong("the sum of the gradients", edits=[(MEAN, "")], check="test_steps"),
    Wrong(
        "divides by the number of parts twice: the average, and then by hand",
        edits=[("chunk(self.world_size)))\n", "chunk(self.world_size)), op=dist.ReduceOp.AVG)\n")],
        check="test_steps",
        says="on rank 0 of",
    ),
    Wrong(
        "every rank with its own gradients",
        edits=[
            (
                REDUCE,
                """            vector = self._vector(gradients)
            self.part.grad = vector[self.start : self.start + self.size].clone()
""",
            )
        ],
        check="test_steps",
    ),
    Wrong(
        "keeps the results to itself",
        edits=[
            (
                "            dist.all_gather(list(vector.chunk(self.world_size)), self.part.detach())\n",
                "            vector.copy_(self._vector(p.detach() for p in self.params))\n"
                "            vector[self.start : self.start + self.size] = self.part.detach()\n",
            )
        ],
        check="test_steps",
    ),
    Wrong(
        "rounds the size of a part down",
        edits=[
            (
                "self.size = -(-total // self.world_size)  # rounded up",
                "self.size = max(total // self.world_size, 1)  # rounded",
            ),
            ("        return nn.functional.pad(flat, (0,", "        return nn.functional.pad(flat, (0, 0 *"),
        ],
        check="test_steps",
    ),
    Wrong(
        "float32 whatever the parameters are",
        edits=[("flat = torch.cat([t.flatten() for t in", "flat = torch.cat([t.flatten().float() for t in")],
        check="test_steps",
    ),
    Wrong(
        "flattens with view",
        edits=[("t.flatten() for t in", "t.view(-1) for t in")],
        check="test_steps",
        says="view",
    ),
    Wrong(
        "gradients of all steps add up",
        edits=[
            (
                REDUCE,
                """            mean = torch.empty_like(self.part)
            dist.reduce_scatter(mean, list(self._vector(gradients).chunk(self.world_size)))
            mean /= self.world_size
            self.part.grad = mean if self.part.grad is None else self.part.grad + mean
""",
            )
        ],
        check="test_steps",
        says="after step 2",
    ),
    Wrong(
        "averages .grad in place",
        edits=[
            (GRADIENTS, GRADIENTS + "            gradients = [g.div_(self.world_size) for g in gradients]\n"),
            (MEAN, ""),
        ],
        check="test_steps",
        says="changes .grad",
    ),
    Wrong(
        "writes the zeros of missing gradients down",
        edits=[
            (
                GRADIENTS,
                """            for p in self.params:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
            gradients = [p.grad for p in self.params]
""",
            )
        ],
        check="test_missing_gradients",
        says="changes .grad",
    ),
    Wrong(
        "clears the gradients in the step",
        edits=[
            ("        self.optimizer.step()\n", "        self.optimizer.step()\n        self.zero_grad()\n")
        ],
        check="test_steps",
        says="changes .grad",
    ),
    Wrong(
        "takes it that every gradient is there",
        edits=[(GRADIENTS, "            gradients = [p.grad for p in self.params]\n")],
        check="test_missing_gradients",
    ),
    Wrong(
        "leaves out parameters without gradients",
        edits=[
            (GRADIENTS, "            gradients = [p.grad for p in self.params if p.grad is not None]\n"),
            (
                "flat = torch.cat([t.flatten() for t in tensors])",
                "flat = torch.cat([torch.zeros(0).to(self.params[0]), *(t.flatten() for t in tensors)])",
            ),
        ],
        check="test_missing_gradients",
    ),
    Wrong(
        "a rank without gradients stays away",
        edits=[
            (
                "        with torch.no_grad():\n" + COPY,
                "        if all(p.grad is None for p in self.params):\n            return\n"
                "        with torch.no_grad():\n" + COPY,
            )
        ],
        check="test_missing_gradients",
        says="waits in",
    ),
    Wrong(
        "frozen parameters too",
        edits=[(PARAMS, "        self.params = list(params)\n")],
        check="test_frozen_parameters",
    ),
    Wrong("goes on from its own copy", edits=[(COPY, "")], check="test_between_steps"),
    Wrong(
        "a learning rate for ever",
        edits=[
            (
                "        self.optimizer = make_optimizer([self.part])\n",
                "        self.optimizer = make_optimizer([self.part])\n"
                "        self.mine = make_optimizer([self.part])\n",
            ),
            ("        self.optimizer.step()\n", "        self.mine.step()\n"),
        ],
        check="test_between_steps",
    ),
    Wrong(
        "a part that is a view of the whole vector",
        edits=[("self.start + self.size].clone()", "self.start + self.size]")],
        check="test_memory",
        says="holds too much",
    ),
    Wrong(
        "keeps the vector of gradients for the next step",
        edits=[
            (
                "list(self._vector(gradients).chunk(self.world_size)))\n",
                "self.buffer)\n",
            ),
            (
                "            self.part.grad = torch.empty_like(self.part)\n",
                "            self.part.grad = torch.empty_like(self.part)\n"
                "            self.buffer = list(self._vector(gradients).chunk(self.world_size))\n",
            ),
        ],
        check="test_memory",
        says="holds too much",
    ),
    Wrong(
        "zeros instead of None",
        edits=[(ZERO, ZERO.replace("p.grad = None", "p.grad = torch.zeros_like(p)"))],
        check="test_steps",
        says="zero_grad() leaves",
    ),
    Wrong(
        "clears its own part only",
        edits=[(ZERO, "        self.optimizer.zero_grad()\n")],
        check="test_steps",
        says="zero_grad() leaves",
    ),
    Wrong(
        "a part that requires no gradient",
        edits=[("self._mine().requires_grad_()  #", "self._mine()  #")],
        check="test_memory",
        says="no leaves",
    ),
    Wrong(
        "one number more for each rank, where they divide the numbers too",
        edits=[("-(-total // self.world_size)", "total // self.world_size + 1")],
        check="test_memory",
        says="at most 745",
    ),
    Wrong(
        "the largest parameters first",
        edits=[
            (
                "[p for p in params if p.requires_grad]",
                "sorted((p for p in params if p.requires_grad), key=lambda p: -p.numel())",
            )
        ],
        check="test_steps",
        says="other numbers than those of part",
    ),
    Wrong(
        "zeros for gradients of NaN",
        edits=[
            (
                "            self.part.grad /= self.world_size\n",
                "            self.part.grad /= self.world_size\n            self.part.grad.nan_to_num_(0.0)\n",
            )
        ],
        check="test_missing_gradients",
        says="with NaN on rank 0",
    ),
    Wrong(
        "matrices as they lie in memory: other parts than those of the order given",
        edits=[
            (
                "torch.cat([t.flatten() for t in tensors])",
                "torch.cat([(t.t() if t.dim() == 2 and not t.is_contiguous() else t).flatten() for t in tensors])",
            ),
            (
                "p.copy_(numbers.view(p.shape))",
                "p.copy_(numbers.view(p.shape) if p.dim() != 2 or p.is_contiguous() else numbers.view(p.t().shape).t())",
            ),
        ],
        check="test_steps",
        says="other numbers than those of part",
    ),
    Wrong(
        "looks for new values where the version of the first parameter has changed",
        edits=[
            (
                COPY,
                "            if self.params[0]._version != getattr(self, 'seen', None):\n    " + COPY,
            ),
            (
                "                p.copy_(numbers.view(p.shape))\n",
                "                p.copy_(numbers.view(p.shape))\n            self.seen = self.params[0]._version\n",
            ),
        ],
        check="test_between_steps",
        says="loaded",
    ),
    Right(
        "parameters that live in one vector, of which the part is a view",
        code=HEAD
        + """    @torch.no_grad()
    def __init__(self, params, make_optimizer):
        self.params = [p for p in params if p.requires_grad]
        world, rank = dist.get_world_size(), dist.get_rank()
        sizes = [p.numel() for p in self.params]
        length = (sum(sizes) + world - 1) // world
        first = self.params[0]
        self.vector = torch.zeros(length * world, dtype=first.dtype, device=first.device)
        at = 0
        for p, size in zip(self.params, sizes):
            place = self.vector[at : at + size].view(p.shape)
            place.copy_(p)
            p.data = place
            at += size
        self.part = self.vector.view(world, length)[rank].detach().requires_grad_()
        self.optimizer = make_optimizer([self.part])

    def step(self):
        gradients = torch.zeros_like(self.vector)
        at = 0
        for p in self.params:
            if p.grad is not None:
                gradients[at : at + p.numel()] = p.grad.reshape(-1)
            at += p.numel()
        mean = torch.empty_like(self.part)
        dist.reduce_scatter_tensor(mean, gradients, op=dist.ReduceOp.AVG)
        self.part.grad = mean
        self.optimizer.step()
        self.part.grad = None
        dist.all_gather_into_tensor(self.vector, self.part.detach().clone())

    def zero_grad(self):
        for p in self.params:
            p.grad = None
""",
    ),
    Right(
        "a list of pieces, cut at the parameters' borders, and lists of parts",
        code=HEAD
        + """    def __init__(self, params, make_optimizer):
        self.trained = [p for p in params if p.requires_grad]
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        total = sum(p.numel() for p in self.trained)
        self.length = total // self.world + bool(total % self.world)
        low, high = self.rank * self.length, (self.rank + 1) * self.length
        self.pieces, at = [], 0
        for p in self.trained:
            a, b = max(low - at, 0), min(high - at, p.numel())
            if a < b:
                piece = torch.nn.Parameter(p.detach().reshape(-1)[a:b].clone())
                self.pieces.append((piece, p, a, b, at + a - low))
            at += p.numel()
        mine = [piece for piece, *_ in self.pieces]
        self.optimizer = make_optimizer(mine or [torch.nn.Parameter(torch.zeros(0))])

    @torch.no_grad()
    def step(self):
        one = self.trained[0]
        whole = [torch.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.reshape(-1) for p in self.trained]
        whole = torch.cat(whole)
        whole = torch.cat([whole, whole.new_zeros(self.length * self.world - whole.numel())])
        mean = torch.zeros(self.length, dtype=one.dtype)
        dist.reduce_scatter(mean, [part.clone() for part in whole.chunk(self.world)])
        for piece, p, a, b, to in self.pieces:
            piece.copy_(p.reshape(-1)[a:b])
            piece.grad = mean[to : to + b - a] / self.world
        with torch.enable_grad():
            self.optimizer.step()
        mine = torch.zeros(self.length, dtype=one.dtype)
        for piece, _, a, b, to in self.pieces:
            mine[to : to + b - a] = piece
        parts = [torch.zeros_like(mine) for _ in range(self.world)]
        dist.all_gather(parts, mine)
        known, at = torch.cat(parts), 0
        for p in self.trained:
            p.copy_(known[at : at + p.numel()].reshape(p.shape))
            at += p.numel()

    def zero_grad(self):
        for p in self.trained:
            p.grad = None
""",
    ),
    Wrong(
        "cuts the parameters out of the vector that has come",
        edits=[
            (
                "                p.copy_(numbers.view(p.shape))\n",
                "                p.data = numbers.view(p.shape)\n",
            )
        ],
        check="test_steps",
        says="other memory",
    ),
    Wrong(
        "reads the values of now only where they are not close",
        edits=[
            (
                COPY,
                "            now = self._mine()\n            if not torch.allclose(now, self.part):\n                self.part.copy_(now)\n",
            )
        ],
        check="test_between_steps",
        says="loaded that are close",
    ),
    Wrong(
        "lets a part alone that gets no gradient in this step",
        edits=[
            (
                MEAN,
                MEAN
                + "            if not self.part.grad.any():\n                self.part.grad = None  # the optimizer skips it\n",
            )
        ],
        check="test_missing_gradients",
        says="without any gradient in step",
    ),
    Right(
        "lets go of the gradients of frozen parameters as well",
        edits=[
            (PARAMS, "        self.all = list(params)\n" + PARAMS.replace("in params if", "in self.all if")),
            (ZERO, ZERO.replace("self.params", "self.all")),
        ],
    ),
    Wrong(
        "looks at the parameters anew from the second step on",
        edits=[
            (
                COPY,
                "            if self.part.grad is not None:\n                self.part.copy_(self._mine())\n",
            )
        ],
        check="test_between_steps",
        says="loaded before step 1",
    ),
    Wrong(
        "does nothing on a single rank that has no gradients",
        edits=[
            (
                COPY,
                "            if self.world_size == 1 and all(p.grad is None for p in self.params):\n"
                "                return\n" + COPY,
            )
        ],
        check="test_steps",
        says="without gradients",
    ),
    Wrong(
        "leaves itself out of the mean where it has no gradient at all",
        edits=[
            (
                MEAN,
                "            idle = all(p.grad is None for p in self.params)\n"
                "            self.part.grad /= max(1, self.world_size - idle)\n",
            )
        ],
        check="test_missing_gradients",
        says="without any gradient",
    ),
]
