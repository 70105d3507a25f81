"""Answers to sharded_optimizer that people write."""

from grader.authoring.specimen import Right, Works, Wrong

PARAMS = "        self.params = [p for p in params if p.requires_grad]\n"
COPY = "            self.part.copy_(self._mine())  # someone may have loaded other values\n"
GRADIENTS = """            gradients = (torch.zeros_like(p) if p.grad is None else p.grad for p in self.params)
"""
REDUCE = """            self.part.grad = torch.empty_like(self.part)
            dist.reduce_scatter(self.part.grad, list(self._vector(gradients).chunk(self.world_size)))
            self.part.grad /= self.world_size
"""
GATHER = "            dist.all_gather(list(vector.chunk(self.world_size)), self.part.detach())\n"
ZERO = """        for p in self.params:
            p.grad = None
"""
MEAN = "            self.part.grad /= self.world_size\n"
HEAD = """
import torch
import torch.distributed as dist


class ShardedOptimizer:
"""

SPECIMENS = [
    Wrong(
        "averages everything everywhere, and steps everything everywhere",
        code=HEAD
        + """    def __init__(self, params, make_optimizer):
        self.params = [p for p in params if p.requires_grad]
        self.optimizer = make_optimizer(self.params)

    def step(self):
        for p in self.params:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()
""",
        rung="job",
        check="test_owners",
        says="every rank keeps the state of all parameters",
    ),
    Wrong(
        "the sum of the gradients",
        edits=[(MEAN, "")],
        rung="job",
        check="test_steps",
        says="where their mean is wanted",
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
        rung="job",
        check="test_steps",
        says="the gradients of rank 0 alone",
    ),
    Wrong(
        "keeps the results to itself",
        edits=[
            (
                GATHER,
                "            vector.copy_(self._vector(p.detach() for p in self.params))\n"
                "            vector[self.start : self.start + self.size] = self.part.detach()\n",
            )
        ],
        rung="job",
        check="test_steps",
        says="on rank",
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
        rung="job",
        check="test_steps",
        says="after step 2",
    ),
    Wrong(
        "clears its own part only",
        edits=[(ZERO, "        self.optimizer.zero_grad()\n")],
        rung="job",
        check="test_zero_grad",
        says="whoever owns them",
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
        rung="fine",
        check="test_messages",
        says="all_reduce",
    ),
    Wrong(
        "averages .grad in place",
        edits=[
            (GRADIENTS, GRADIENTS + "            gradients = [g.div_(self.world_size) for g in gradients]\n"),
            (MEAN, ""),
        ],
        rung="fine",
        check="test_gradients_stay",
        says="changes .grad",
    ),
    Wrong(
        "takes it that every gradient is there",
        edits=[(GRADIENTS, "            gradients = [p.grad for p in self.params]\n")],
        rung="fine",
        check="test_missing_gradients",
    ),
    Wrong(
        "frozen parameters too",
        edits=[(PARAMS, "        self.params = list(params)\n")],
        rung="fine",
        check="test_frozen_parameters",
    ),
    Wrong(
        "goes on from its own copy",
        edits=[(COPY, "")],
        rung="fine",
        check="test_loaded_parameters",
    ),
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
        rung="fine",
        check="test_schedule",
    ),
    Wrong(
        "flattens with view",
        edits=[("t.flatten() for t in", "t.view(-1) for t in")],
        rung="fine",
        check="test_float64_and_layouts",
        says="view",
    ),
    Wrong(
        "a rank that owns nothing makes no optimizer of it",
        edits=[
            (
                "self.optimizer = make_optimizer([self.part])",
                "self.optimizer = make_optimizer([self.part] if self.start < total else [])",
            )
        ],
        rung="fine",
        check="test_few_numbers",
        says="empty parameter list",
    ),
    Wrong(
        "a part that is a view of the whole vector",
        edits=[("self.start + self.size].clone()", "self.start + self.size]")],
        rung="fine",
        check="test_memory",
        says="holds too much",
    ),
    Works(
        "shares out whole parameters, and broadcasts each, as in CS336",
        code=HEAD
        + """    def __init__(self, params, make_optimizer):
        self.params = list(params)
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.optimizer = make_optimizer(self.params[self.rank :: self.world_size])

    def step(self):
        for p in self.params:
            dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
            p.grad /= self.world_size
        self.optimizer.step()
        for i, p in enumerate(self.params):
            dist.broadcast(p.data, src=i % self.world_size)

    def zero_grad(self):
        for p in self.params:
            p.grad = None
""",
    ),
    Works(
        "flat vectors in float32, of which the part is a copy for good",
        code=HEAD
        + """    def __init__(self, params, make_optimizer):
        self.params = [p for p in params if p.requires_grad]
        self.world, self.rank = dist.get_world_size(), dist.get_rank()
        self.total = sum(p.numel() for p in self.params)
        self.size = (self.total + self.world - 1) // self.world
        flat = self.pad(torch.cat([p.data.view(-1) for p in self.params]))
        self.part = torch.nn.Parameter(flat[self.rank * self.size : (self.rank + 1) * self.size])
        self.optimizer = make_optimizer([self.part])

    def pad(self, flat):
        padded = torch.zeros(self.size * self.world)
        padded[: self.total] = flat
        return padded

    def step(self):
        grads = self.pad(torch.cat([p.grad.view(-1) for p in self.params]))
        dist.all_reduce(grads)
        grads /= self.world
        self.part.grad = grads[self.rank * self.size : (self.rank + 1) * self.size]
        self.optimizer.step()
        parts = [torch.empty(self.size) for _ in range(self.world)]
        dist.all_gather(parts, self.part.data)
        flat, offset = torch.cat(parts), 0
        for p in self.params:
            p.data.copy_(flat[offset : offset + p.numel()].view_as(p))
            offset += p.numel()

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()
""",
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
]
