"""Answers to process_group that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BY_LOCAL_RANK = 'torch.device(device_type, int(os.environ.get("LOCAL_RANK", "0")))'
TWICE = """    if dist.is_initialized():
        raise RuntimeError("this process is a member of a group already")
"""
BACKEND = '    backend = "nccl" if device.type == "cuda" else "gloo"\n'
MISSING = """        missing = [name for name in VARIABLES if name not in os.environ]
        if missing:
            raise ValueError(f"RANK is set, but not {', '.join(missing)}: start the script with torchrun")
"""
JOIN = "        dist.init_process_group(backend, timeout=timeout)\n"
ALONE = "        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)\n"
BLOCK = """    try:  # only now: what goes wrong above must not end a group of somebody else
        yield Member(rank, local_rank, world_size, device)
    finally:
        dist.destroy_process_group()
"""
DEVICE = """    if device.type == "cuda":
        torch.cuda.set_device(device)  # NCCL takes the current device
"""
INSIDE = DEVICE.replace("    if", "        if").replace("        torch", "            torch")
LAST = "    try:  # only now: what goes wrong above must not end a group of somebody else\n"
STACK = """    with ExitStack() as stack:
        stack.callback(dist.destroy_process_group)
        yield Member(rank, local_rank, world_size, device)
"""
PLAY = """    if "RANK" not in os.environ:
        here = dict(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
        os.environ.update(here)
"""
BODY_START = '    if "RANK" in os.environ:\n'


def alone(line):
    return [(ALONE, line)]


SPECIMENS = [
    Wrong(
        "never leaves",
        edits=[("    finally:\n        dist.destroy_process_group()\n", "    finally:\n        pass\n")],
        rung="job",
        check="test_members",
        says="never left",
    ),
    Wrong(
        "never leaves where the block raises",
        edits=[
            (
                BLOCK,
                "    yield Member(rank, local_rank, world_size, device)\n    dist.destroy_process_group()\n",
            )
        ],
        rung="job",
        check="test_a_block_that_raises",
        says="still there",
    ),
    Wrong(
        "swallows the error to clean up in peace",
        edits=[
            (
                "    finally:\n",
                '    except Exception as error:\n        print(f"failed: {error}")\n    finally:\n',
            )
        ],
        rung="job",
        check="test_a_block_that_raises",
        says="does not come out",
    ),
    Wrong(
        "waits for all before it leaves",
        edits=[("    finally:\n", "    finally:\n        dist.barrier()\n")],
        rung="job",
        check="test_a_rank_that_fails",
    ),
    Wrong(
        "the device by the rank",
        edits=[('os.environ.get("LOCAL_RANK", "0")', 'os.environ.get("RANK", "0")')],
        rung="job",
        check="test_local_device",
        says="number among all machines",
    ),
    Wrong(
        "the device without its number",
        edits=[(BY_LOCAL_RANK, "torch.device(device_type)")],
        rung="job",
        check="test_local_device",
        says="no number",
    ),
    Wrong(
        "the rank among all for the one on this machine",
        edits=[("yield Member(rank, local_rank, world", "yield Member(rank, rank, world")],
        rung="job",
        check="test_members",
        says="the one on this machine",
    ),
    Wrong(
        "always a group of torchrun's",
        edits=[(BODY_START, '    os.environ.setdefault("RANK", "0")\n' + BODY_START)],
        rung="job",
        check="test_alone",
    ),
    Wrong(
        "no group for a process that is alone",
        edits=[
            (ALONE, "        yield Member(0, 0, 1, device)\n        return\n"),
        ],
        rung="job",
        check="test_alone",
        says="no group inside",
    ),
    Wrong(
        "its own time-out",
        edits=[(JOIN, "        dist.init_process_group(backend)\n")],
        rung="job",
        check="test_members",
        says="torch's own time-out",
    ),
    Wrong(
        "gloo for CUDA as well",
        edits=[(BACKEND, '    backend = "gloo"\n')],
        rung="job",
        check="test_cuda",
        says="nccl",
    ),
    Wrong(
        "leaves on the errors that it expects",
        edits=[
            (
                BLOCK,
                """    try:
        yield Member(rank, local_rank, world_size, device)
    except Exception:
        dist.destroy_process_group()
        raise
    else:
        dist.destroy_process_group()
""",
            )
        ],
        rung="fine",
        check="test_however_the_block_ends",
        says="raises KeyboardInterrupt",
    ),
    Wrong(
        "fills the environment in for a process that is alone",
        edits=[
            (
                ALONE,
                """        here = dict(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
        os.environ.update(here)
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
""",
            )
        ],
        rung="fine",
        check="test_alone_beside_others",
        says="os.environ",
    ),
    Wrong(
        "meets itself at the port of the tutorials",
        edits=alone(
            '        dist.init_process_group(backend, init_method="tcp://127.0.0.1:29500", rank=0, world_size=1)\n'
        ),
        rung="fine",
        check="test_alone_beside_others",
    ),
    Wrong(
        "ends the group that it finds",
        edits=[(TWICE, "    if dist.is_initialized():\n        dist.destroy_process_group()\n")],
        rung="fine",
        check="test_misuse",
        says="a block inside of a block",
    ),
    Wrong(
        "gloo and the CPU where there is no CUDA",
        edits=[
            (
                "        torch.cuda.set_device(device)",
                "        torch.cuda.is_available() and torch.cuda.set_device(device)",
            ),
            (
                BACKEND,
                '    backend = "nccl" if device.type == "cuda" and torch.cuda.is_available() else "gloo"\n',
            ),
        ],
        rung="fine",
        check="test_misuse",
        says="without CUDA",
    ),
    Wrong(
        "does without torchrun as soon as anything is missing",
        edits=[
            (MISSING, ""),
            (BODY_START, '    if all(name in os.environ for name in ("RANK", *VARIABLES)):\n'),
        ],
        rung="fine",
        check="test_misuse",
        says="is missing, RANK is set",
    ),
    Wrong(
        "the current device once it has joined",
        edits=[
            ("        torch.cuda.set_device(device)", "        pass"),
            (BLOCK, '    if device.type == "cuda":\n        torch.cuda.set_device(device)\n' + BLOCK),
        ],
        rung="fine",
        check="test_cuda_first",
        says="on joining",
    ),
    Works(
        "joins inside of try, and sets the device afterwards",
        edits=[(TWICE, ""), (MISSING, ""), (DEVICE, ""), (LAST, "    try:\n" + INSIDE)],
    ),
    Right(
        "an ExitStack", edits=[("import contextmanager", "import ExitStack, contextmanager"), (BLOCK, STACK)]
    ),
    Right(
        "a meeting place at any free port",
        edits=alone(ALONE.replace("dist.HashStore()", 'dist.TCPStore("localhost", 0, 1, True)')),
    ),
    Works(
        "plays torchrun for a process that is alone, as scripts do", edits=[(BODY_START, PLAY + BODY_START)]
    ),
]
