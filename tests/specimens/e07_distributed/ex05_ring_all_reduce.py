"""Answers to ring_all_reduce that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FLAT = "    flat = tensor.reshape(-1).contiguous()  # (numbers,), copied where strides leave gaps\n"
PARTS = "    parts = flat.tensor_split(ranks)  # views; the first ones may be longer by one\n"
RANGE = "range(2 * (ranks - 1))"
SEND = "        sending = dist.isend(outgoing, (rank + 1) % ranks)  # all send first: none may wait for the other end\n"
RECV = "        dist.recv(incoming, (rank - 1) % ranks)\n"
WAIT = "        sending.wait()\n"
KEEP = """        if step < ranks - 1:
            kept += incoming
        else:
            kept.copy_(incoming)
"""
BACK = "    tensor.copy_(flat.view_as(tensor))\n"
WHOLE = """    passed = flat.clone()
    for _ in range(ranks - 1):
        incoming = torch.empty_like(flat)
        sending = dist.isend(passed, (rank + 1) % ranks)
        dist.recv(incoming, (rank - 1) % ranks)
        sending.wait()
        flat += incoming
        passed = incoming
"""
LOOP = (
    f"    for step in {RANGE}:\n"
    "        outgoing = parts[(rank - step) % ranks]\n"
    "        kept = parts[(rank - step - 1) % ranks]\n"
    "        incoming = torch.empty_like(kept)\n" + SEND + RECV + WAIT + KEEP
)

SPECIMENS = [
    Wrong(
        "passes whole tensors round",
        edits=[(PARTS + LOOP, WHOLE)],
        rung="job",
        check="test_ring",
        says="more than a part",
    ),
    Wrong(
        "every part straight to its owner, and straight back",
        edits=[
            (
                PARTS + LOOP,
                """    parts = flat.tensor_split(ranks)
    mine = parts[rank].clone()
    for step in range(1, ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        incoming = torch.empty_like(mine)
        sending = dist.isend(parts[to].clone(), to)
        dist.recv(incoming, source)
        sending.wait()
        mine += incoming
    parts[rank].copy_(mine)
    for step in range(1, ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        sending = dist.isend(mine, to)
        dist.recv(parts[source], source)
        sending.wait()
""",
            )
        ],
        rung="job",
        check="test_ring",
        says="a send with ranks",
    ),
    Wrong(
        "torch's own all_reduce",
        edits=[(PARTS + LOOP, "    dist.all_reduce(flat)\n")],
        rung="job",
        check="test_ring",
        says="all_reduce",
    ),
    Wrong(
        "numbers parts the wrong way round",
        edits=[("parts[(rank - step) % ranks]", "parts[(rank + step) % ranks]")],
        rung="job",
        check="test_sums",
    ),
    Wrong(
        "right for two ranks: starts the second half at its own part",
        edits=[
            (
                "parts[(rank - step) % ranks]",
                "parts[(rank - step + (step >= ranks - 1) * (ranks - 2)) % ranks]",
            ),
            (
                "parts[(rank - step - 1) % ranks]",
                "parts[(rank - step - 1 + (step >= ranks - 1) * (ranks - 2)) % ranks]",
            ),
        ],
        rung="job",
        check="test_sums",
        says="of 3",
    ),
    Wrong(
        "all send, then all receive",
        edits=[(SEND, "        dist.send(outgoing, (rank + 1) % ranks)\n"), (WAIT, "")],
        rung="job",
        check="test_sums",
        says="wait in send",
    ),
    Wrong(
        "parts of one size, and drops what is left over",
        edits=[
            (
                PARTS,
                "    size = flat.numel() // ranks\n    parts = [flat[i * size : (i + 1) * size] for i in range(ranks)]\n",
            )
        ],
        rung="job",
        check="test_sums",
    ),
    Wrong(
        "the mean",
        edits=[(BACK, BACK.replace("flat.view_as(tensor)", "flat.view_as(tensor) / ranks"))],
        rung="job",
        check="test_sums",
        says="that is the mean",
    ),
    Wrong(
        "writes into a copy",
        edits=[
            (FLAT, FLAT.replace("tensor.reshape(-1).contiguous()", "tensor.flatten().clone()")),
            (BACK, ""),
        ],
        rung="job",
        check="test_sums",
        says="as it was",
    ),
    Wrong(
        "a step too many",
        edits=[(RANGE, "range(2 * ranks - 1)")],
        rung="fine",
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "chunk for tensor_split",
        edits=[("flat.tensor_split(ranks)", "flat.chunk(ranks)")],
        rung="fine",
        check="test_sizes",
    ),
    Wrong(
        "sums in float32",
        edits=[
            (FLAT, "    flat = tensor.reshape(-1).float().contiguous()\n"),
        ],
        rung="fine",
        check="test_dtypes",
    ),
    Wrong(
        "sends parts of a column as they lie",
        edits=[(FLAT, "    flat = tensor.reshape(-1)\n")],
        rung="fine",
        check="test_strides",
        says="contiguous",
    ),
    Wrong(
        "returns the sum",
        edits=[(BACK, BACK + "    return tensor\n")],
        rung="fine",
        check="test_sizes",
        says="result",
    ),
    Wrong(
        "sends bytes",
        edits=[
            (SEND, SEND.replace("(outgoing,", "(outgoing.view(torch.uint8),")),
            (RECV, RECV.replace("(incoming,", "(incoming.view(torch.uint8),")),
        ],
        rung="fine",
        check="test_messages",
        says="another dtype",
    ),
    Works(
        "whole numbers of parts: chunks of a flat view, isend and recv",
        code="""
import torch
import torch.distributed as dist


def ring_all_reduce(tensor):
    rank, size = dist.get_rank(), dist.get_world_size()
    chunks = list(tensor.view(-1).chunk(size))
    right, left = (rank + 1) % size, (rank - 1) % size
    for i in range(size - 1):
        recv_chunk = (rank - i - 1) % size
        buffer = torch.empty_like(chunks[recv_chunk])
        req = dist.isend(chunks[(rank - i) % size], right)
        dist.recv(buffer, left)
        req.wait()
        chunks[recv_chunk] += buffer
    for i in range(size - 1):
        req = dist.isend(chunks[(rank - i + 1) % size], right)
        dist.recv(chunks[(rank - i) % size], left)
        req.wait()
""",
    ),
    Works(
        "float32 buffers, an isend and an irecv, and the parts put together",
        code="""
import torch
import torch.distributed as dist


def ring_all_reduce(tensor):
    n, r = dist.get_world_size(), dist.get_rank()
    parts = [p.clone() for p in torch.tensor_split(tensor.flatten(), n)]
    for step in range(2 * n - 2):
        send, recv = parts[(r - step) % n], torch.zeros(len(parts[(r - step - 1) % n]))
        requests = [dist.isend(send, dst=(r + 1) % n), dist.irecv(recv, src=(r - 1 + n) % n)]
        for request in requests:
            request.wait()
        parts[(r - step - 1) % n] = recv + parts[(r - step - 1) % n] if step < n - 1 else recv
    tensor.copy_(torch.cat(parts).reshape(tensor.shape))
""",
    ),
    Right(
        "even ranks send first, padded parts, two loops",
        code="""
import torch
import torch.distributed as dist


def exchange(out, to, source):
    got = torch.zeros_like(out)
    for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, out, to), dist.P2POp(dist.irecv, got, source)]):
        request.wait()
    return got


def ring_all_reduce(tensor):
    r, n = dist.get_rank(), dist.get_world_size()
    size = (tensor.numel() + n - 1) // n
    if n == 1 or size == 0:
        return
    table = tensor.new_zeros(n * size)
    table[: tensor.numel()] = tensor.flatten()
    table = table.view(n, size)
    to, source = (r + 1) % n, (r - 1) % n
    for step in range(1, n):  # so that a rank ends with the part of its own number
        table[(r - step - 1) % n] += exchange(table[(r - step) % n].clone(), to, source)
    for step in range(n - 1):
        table[(r - step - 1) % n] = exchange(table[(r - step) % n], to, source)
    tensor.copy_(table.flatten()[: tensor.numel()].reshape(tensor.shape))
""",
    ),
    Right(
        "one rank after the other: the last receives before it sends; nothing sent for empty parts",
        code="""
import torch
import torch.distributed as dist


def ring_all_reduce(tensor):
    me, world = dist.get_rank(), dist.get_world_size()
    right, left = (me + 1) % world, (me + world - 1) % world
    cuts = [i * tensor.numel() // world for i in range(world + 1)]
    numbers = tensor.clone(memory_format=torch.contiguous_format).view(-1)

    def part(i):
        i %= world
        return slice(cuts[i], cuts[i + 1])

    def send(i):
        if numbers[part(i)].numel():
            dist.send(numbers[part(i)], right)

    def recv(i):
        got = torch.empty_like(numbers[part(i)])
        if got.numel():
            dist.recv(got, left)
        return got

    for step in range(2 * world - 2):
        if me == 0:
            send(me - step)
            got = recv(me - step - 1)
        else:
            got = recv(me - step - 1)
            send(me - step)
        if step < world - 1:
            got += numbers[part(me - step - 1)]
        numbers[part(me - step - 1)] = got
    tensor[...] = numbers.view(tensor.shape)
""",
    ),
]
