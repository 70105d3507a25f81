"""Answers to rank_zero_checkpoint that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TELL = """    told = [error and repr(error)]
    dist.broadcast_object_list(told, src=0)  # good or bad news from rank 0, for which the others wait here
"""
RAISE = """    if error is not None:
        raise error
    if told[0] is not None:
        raise RuntimeError(f"rank 0 could not write {path}: {told[0]}")
"""
DRAFT = """    draft = path.with_name(path.name + ".draft")
    try:
        torch.save(checkpoint, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
"""
LOAD = '    checkpoint = torch.load(path, map_location="cpu", weights_only=True)  # load_state_dict moves it on\n'
LOADING = """    _bare(model).load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    dist.barrier()  # the next save must not come before the last reader
    return checkpoint["step"]
"""
BARE = "    return model.module if isinstance(model, DistributedDataParallel) else model\n"


SPECIMENS = [
    Wrong(
        "every rank writes, each under a name of its own",
        edits=[
            ("    if dist.get_rank() == 0:\n", "    if True:\n"),
            ('path.name + ".draft"', 'f"{path.name}.{dist.get_rank()}"'),
            ("    dist.broadcast_object_list(told, src=0)", "    dist.barrier()"),
        ],
        rung="job",
        check="test_rank_zero_writes",
        says="rank 1 writes, renames or removes files",
    ),
    Wrong(
        "nobody waits",
        edits=[(TELL + RAISE, "    if error is not None:\n        raise error\n")],
        rung="job",
        check="test_waits_for_the_writer",
        says="half written",
    ),
    Wrong(
        "a barrier on rank 0 only",
        edits=[(TELL + RAISE, "    if dist.get_rank() == 0:\n        dist.barrier()\n")],
        rung="job",
        check="test_rank_zero_writes",
        says="rank 0 waits in barrier; ranks 1 and 2 have left",
    ),
    Wrong(
        "rank 0 loads, the others get its parameters",
        edits=[
            (LOAD, "    if dist.get_rank() == 0:\n" + LOAD.replace("    checkpoint", "        checkpoint")),
            (
                LOADING,
                """        _bare(model).load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    step = [checkpoint["step"] if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(step, 0)
    return step[0]
""",
            ),
        ],
        rung="job",
        check="test_goes_on",
        says="what it was before loading",
    ),
    Wrong(
        "leaves the optimizer as it was",
        edits=[('    optimizer.load_state_dict(checkpoint["optimizer"])\n', "")],
        rung="job",
        check="test_goes_on",
        says="what it was before loading",
    ),
    Wrong(
        "names with module., as in the tutorial",
        edits=[
            ('"model": _bare(model).state_dict()', '"model": model.state_dict()'),
            ("    _bare(model).load_state_dict", "    model.load_state_dict"),
        ],
        rung="fine",
        check="test_without_ddp",
        says='begin with "module."',
    ),
    Wrong(
        "always unwraps", edits=[(BARE, "    return model.module\n")], rung="fine", check="test_without_ddp"
    ),
    Wrong(
        "writes in place",
        edits=[(DRAFT, "    torch.save(checkpoint, path)\n")],
        rung="fine",
        check="test_new_file_takes_the_place_of_the_old",
        says="the old file itself",
    ),
    Wrong(
        "leaves the draft behind after an error",
        edits=[
            (
                DRAFT,
                '    draft = path.with_name(path.name + ".draft")\n    torch.save(checkpoint, draft)\n    draft.replace(path)\n',
            )
        ],
        rung="fine",
        check="test_failed_save",
        says="other files",
    ),
    Wrong(
        "a draft in the folder for temporary files",
        edits=[
            (
                '    draft = path.with_name(path.name + ".draft")\n',
                "    import shutil, tempfile\n\n    draft = Path(tempfile.mkstemp()[1])\n",
            ),
            ("        draft.replace(path)\n", "        shutil.move(draft, path)\n"),
        ],
        rung="fine",
        check="test_new_file_takes_the_place_of_the_old",
        says="another folder",
    ),
    Wrong(
        "a barrier that a failing rank 0 does not reach",
        edits=[(TELL + RAISE, "    if error is not None:\n        raise error\n    dist.barrier()\n")],
        rung="fine",
        check="test_failed_save",
        says="rank 1 waits",
    ),
    Wrong(
        "the others take a failure for a success",
        edits=[(TELL + RAISE, "    dist.barrier()\n    if error is not None:\n        raise error\n")],
        rung="fine",
        check="test_failed_save",
        says="on rank 1",
    ),
    Wrong(
        "no map_location",
        edits=[(', map_location="cpu"', "")],
        rung="fine",
        check="test_other_device",
    ),
    Wrong(
        "goes on before the others have read",
        edits=[("    dist.barrier()  # the next save must not come before the last reader\n", "")],
        rung="fine",
        check="test_all_have_read",
        says="did not wait",
    ),
    Wrong(
        "rank 0 looks for the file, the others wait for its news",
        edits=[
            (
                LOAD,
                """    found = [None]
    if dist.get_rank() == 0:
        found = [torch.load(path, map_location="cpu", weights_only=True)]
    dist.broadcast_object_list(found, 0)
    checkpoint = found[0]
""",
            )
        ],
        rung="fine",
        check="test_no_file",
    ),
    Works(
        "the DDP tutorial's",
        code="""
import torch
import torch.distributed as dist


def save_checkpoint(path, model, optimizer, step):
    if dist.get_rank() == 0:
        # All processes should see same parameters: saving it in one process is sufficient.
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
    # Use a barrier() to make sure that other processes load the model after process 0 saves it.
    dist.barrier()


def load_checkpoint(path, model, optimizer):
    map_location = {"cuda:%d" % 0: "cuda:%d" % dist.get_rank()}
    checkpoint = torch.load(path, map_location=map_location, weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["step"]
""",
    ),
    Works(
        "as training scripts do: unwraps, and saves in place",
        code="""
import torch
import torch.distributed as dist


def save_checkpoint(path, model, optimizer, step):
    if dist.get_rank() == 0:
        raw_model = model.module if hasattr(model, "module") else model
        checkpoint = {
            "model": raw_model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "step": step,
        }
        print(f"saving checkpoint to {path}")
        torch.save(checkpoint, path)
    dist.barrier()


def load_checkpoint(path, model, optimizer):
    dist.barrier()
    checkpoint = torch.load(path, map_location="cpu")
    raw_model = getattr(model, "module", model)
    raw_model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    model.train()
    return checkpoint["step"]
""",
    ),
    Right(
        "gathers news from everybody, a named temporary file, a lambda for the device",
        edits=[
            (
                TELL,
                "    told = [None] * dist.get_world_size()\n    dist.all_gather_object(told, error and str(error))\n",
            ),
            (
                DRAFT,
                """    import os
    import tempfile

    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
""",
            ),
            ('map_location="cpu", weights_only=True', "map_location=lambda storage, location: storage"),
        ],
    ),
    Right(
        "bytes first, a flag as a tensor, and rank 0 reads for all",
        edits=[
            (
                TELL,
                """    told = [None]
    flag = torch.tensor(float(error is not None))
    dist.all_reduce(flag)
    if flag and error is None:
        told = ["it failed"]
""",
            ),
            (
                DRAFT,
                """    import io
    import os

    stream = io.BytesIO()
    torch.save(checkpoint, stream)
    draft = f"{path}~"
    with open(draft, "wb") as file:
        file.write(stream.getvalue())
    os.rename(draft, path)
""",
            ),
            (
                LOAD,
                """    found = [None]
    if dist.get_rank() == 0 and os.path.exists(path):
        found = [torch.load(path, map_location=torch.device("cpu"))]
    dist.broadcast_object_list(found, 0)
    checkpoint = found[0]
    if checkpoint is None:
        raise FileNotFoundError(path)
""",
            ),
            ("from pathlib import Path", "import os\nfrom pathlib import Path"),
        ],
    ),
]
