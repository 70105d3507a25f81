"""Answers to ring_all_reduce that people write."""

from grader.authoring.specimen import Right, Wrong

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
        check="test_messages",
        says="too many bytes",
    ),
    Wrong(
        "collects at rank 0 and sends the sum out",
        edits=[
            (
                PARTS + LOOP,
                """    incoming = torch.empty_like(flat)
    for other in range(1, ranks):
        if rank == 0:
            dist.recv(incoming, other)
            flat += incoming
        elif rank == other:
            dist.send(flat, 0)
    for other in range(1, ranks):
        if rank == 0:
            dist.send(flat, other)
        elif rank == other:
            dist.recv(flat, 0)
""",
            )
        ],
        check="test_messages",
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
        check="test_messages",
        says="a send with ranks",
    ),
    Wrong(
        "torch's own all_reduce",
        edits=[(PARTS + LOOP, "    dist.all_reduce(flat)\n")],
        check="test_messages",
        says="all_reduce",
    ),
    Wrong(
        "the first half only",
        edits=[(RANGE, "range(ranks - 1)")],
        check="test_sums",
    ),
    Wrong("a step too few", edits=[(RANGE, "range(2 * (ranks - 1) - 1)")], check="test_sums"),
    Wrong(
        "a step too many",
        edits=[(RANGE, "range(2 * ranks - 1)")],
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "adds for a step too long",
        edits=[("step < ranks - 1", "step < ranks")],
        check="test_sums",
        says="of 2",
    ),
    Wrong(
        "stops adding a step early",
        edits=[("step < ranks - 1", "step < ranks - 2")],
        check="test_sums",
        says="of 2",
    ),
    Wrong(
        "numbers parts the wrong way round",
        edits=[("parts[(rank - step) % ranks]", "parts[(rank + step) % ranks]")],
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
        check="test_sums",
        says="of 3",
    ),
    Wrong(
        "all send, then all receive",
        edits=[(SEND, "        dist.send(outgoing, (rank + 1) % ranks)\n"), (WAIT, "")],
        check="test_sums",
        says="wait in send",
    ),
    Wrong(
        "waits for its own sending before it receives",
        edits=[(RECV + WAIT, WAIT + RECV)],
        check="test_sums",
        says="wait",
    ),
    Wrong(
        "chunk for tensor_split", edits=[("flat.tensor_split(ranks)", "flat.chunk(ranks)")], check="test_sums"
    ),
    Wrong(
        "parts of one size, and drops what is left over",
        edits=[
            (
                PARTS,
                "    size = flat.numel() // ranks\n    parts = [flat[i * size : (i + 1) * size] for i in range(ranks)]\n",
            )
        ],
        check="test_sums",
    ),
    Wrong(
        "one buffer for all parts",
        edits=[("torch.empty_like(kept)", "torch.empty_like(parts[0])")],
        check="test_sums",
    ),
    Wrong(
        "sums in float32",
        edits=[
            (FLAT, "    flat = tensor.reshape(-1).float().contiguous()\n"),
        ],
        check="test_dtypes",
    ),
    Wrong("writes into a copy", edits=[(BACK, "")], check="test_strides", says="m[:, 1]"),
    Wrong(
        "wants a flat view",
        edits=[(FLAT, "    flat = tensor.view(-1)\n")],
        check="test_strides",
        says="view",
    ),
    Wrong(
        "sends parts of a column as they lie",
        edits=[(FLAT, "    flat = tensor.reshape(-1)\n")],
        check="test_strides",
        says="contiguous",
    ),
    Wrong(
        "the mean",
        edits=[(BACK, BACK.replace("flat.view_as(tensor)", "flat.view_as(tensor) / ranks"))],
        check="test_sums",
    ),
    Wrong("returns the sum", edits=[(BACK, BACK + "    return tensor\n")], check="test_sums", says="result"),
    Wrong(
        "adds up from rank to rank, each in its own order",
        edits=[
            (
                PARTS + LOOP,
                """    sizes = -(-flat.numel() // ranks)
    passed = flat.clone()
    for _ in range(ranks - 1):
        incoming = torch.empty_like(flat)
        for one, other in zip(passed.tensor_split(ranks), incoming.tensor_split(ranks)):
            sending = dist.isend(one, (rank + 1) % ranks)
            dist.recv(other, (rank - 1) % ranks)
            sending.wait()
        flat += incoming
        passed = incoming
""",
            )
        ],
        check="test_sums",
        says="against rank 0's",
    ),
    Wrong(
        "integers travel as int64",
        edits=[
            (
                FLAT,
                FLAT + "    if not tensor.is_floating_point():\n        flat = flat.to(torch.int64)\n",
            )
        ],
        check="test_messages",
        says="too many bytes",
    ),
    Wrong(
        "numbers as they lie in memory: transposed on one rank, they meet others",
        edits=[
            (
                FLAT,
                "    tensor = tensor.permute(sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d)))\n"
                + FLAT,
            )
        ],
        check="test_strides",
        says="transposed in memory on rank 1",
    ),
    Wrong(
        "sends bytes",
        edits=[
            (SEND, SEND.replace("(outgoing,", "(outgoing.view(torch.uint8),")),
            (RECV, RECV.replace("(incoming,", "(incoming.view(torch.uint8),")),
        ],
        check="test_messages",
        says="another dtype",
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
    Wrong(
        "parts of one number at least, also of an empty tensor",
        edits=[
            (
                FLAT,
                FLAT + "    numbers = len(flat)\n"
                "    flat = torch.cat([flat, flat.new_zeros(ranks * max(1, -(-numbers // ranks)) - numbers)])\n",
            ),
            (BACK, BACK.replace("flat.", "flat[:numbers].")),
        ],
        check="test_messages",
        says="too many bytes",
    ),
]
