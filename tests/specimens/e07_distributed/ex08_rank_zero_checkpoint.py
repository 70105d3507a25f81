"""Answers to rank_zero_checkpoint that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "takes an error without a text for none",
        edits=[
            ("told = [error and repr(error)]", "told = [str(error) if error is not None else None]"),
            ("    if told[0] is not None:\n", "    if told[0]:\n"),
        ],
        check="test_failed_save",
        says="KeyError",
    ),
    Wrong(
        "every rank writes, each under a name of its own",
        edits=[
            ("    if dist.get_rank() == 0:\n", "    if True:\n"),
            ('path.name + ".draft"', 'f"{path.name}.{dist.get_rank()}"'),
            ("    dist.broadcast_object_list(told, src=0)", "    dist.barrier()"),
        ],
        check="test_file",
        says="rank 1 writes, renames or removes files",
    ),
    Wrong(
        "nobody waits",
        edits=[(TELL + RAISE, "    if error is not None:\n        raise error\n")],
        check="test_waits_for_the_writer",
    ),
    Wrong(
        "a barrier on rank 0 only",
        edits=[
            (
                TELL + RAISE,
                "    if dist.get_rank() == 0:\n        dist.barrier()\n    if error is not None:\n        raise error\n",
            )
        ],
        check="test_file",
        says="rank 0 waits in barrier; ranks 1 and 2 have left",
    ),
    Wrong(
        "a barrier that a failing rank 0 does not reach",
        edits=[(TELL + RAISE, "    if error is not None:\n        raise error\n    dist.barrier()\n")],
        check="test_failed_save",
    ),
    Wrong(
        "the others take a failure for a success",
        edits=[(TELL + RAISE, "    dist.barrier()\n    if error is not None:\n        raise error\n")],
        check="test_failed_save",
        says="on rank 1",
    ),
    Wrong("failures are passed over", edits=[(RAISE, "")], check="test_failed_save", says="raises nothing"),
    Wrong(
        "rank 0 forgets its error",
        edits=[("    if error is not None:\n        raise error\n", "")],
        check="test_failed_save",
        says="on rank 0",
    ),
    Wrong("writes in place", edits=[(DRAFT, "    torch.save(checkpoint, path)\n")], check="test_failed_save"),
    Wrong(
        "a copy of the old file, put back after an error",
        edits=[
            (
                DRAFT,
                """    old = path.read_bytes() if path.exists() else None
    try:
        torch.save(checkpoint, path)
    except BaseException:
        if old is not None:
            path.write_bytes(old)
        raise
""",
            )
        ],
        check="test_killed_while_it_writes",
    ),
    Wrong(
        "leaves the draft behind after an error",
        edits=[
            (
                DRAFT,
                '    draft = path.with_name(path.name + ".draft")\n    torch.save(checkpoint, draft)\n    draft.replace(path)\n',
            )
        ],
        check="test_failed_save",
        says="leaves files beside",
    ),
    Wrong(
        "copies the draft",
        edits=[("        draft.replace(path)\n", "        __import__('shutil').copy(draft, path)\n")],
        check="test_file",
        says="old file itself",
    ),
    Wrong(
        "a copy of the draft, which stays",
        edits=[
            (
                "        draft.replace(path)\n",
                "        __import__('shutil').copy(draft, f'{draft}2')\n        Path(f'{draft}2').replace(path)\n",
            ),
            ("        draft.unlink(missing_ok=True)\n", "        pass\n"),
        ],
        check="test_file",
        says="there are other files",
    ),
    Wrong(
        "removes the old file just before the new one gets its name",
        edits=[
            (
                "        draft.replace(path)\n",
                "        path.unlink(missing_ok=True)\n        draft.rename(path)\n",
            )
        ],
        check="test_file",
        says="old file itself",
    ),
    Wrong(
        "stumbles over the draft of a killed process",
        edits=[
            (
                "        torch.save(checkpoint, draft)\n",
                "        with draft.open('xb') as file:\n            torch.save(checkpoint, file)\n",
            )
        ],
        check="test_killed_while_it_writes",
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
        check="test_file",
        says="another folder",
    ),
    Wrong(
        "names with module.",
        edits=[
            ('"model": _bare(model).state_dict()', '"model": model.state_dict()'),
            ("    _bare(model).load_state_dict", "    model.load_state_dict"),
        ],
        check="test_file",
    ),
    Wrong("always unwraps", edits=[(BARE, "    return model.module\n")], check="test_file"),
    Wrong("no map_location", edits=[(', map_location="cpu"', "")], check="test_other_device"),
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
        check="test_goes_on",
        says="on rank 1",
    ),
    Wrong(
        "leaves the optimizer as it was",
        edits=[('    optimizer.load_state_dict(checkpoint["optimizer"])\n', "")],
        check="test_goes_on",
    ),
    Wrong(
        "starts anew without a file",
        edits=[(LOAD, "    if not Path(path).exists():\n        return 0\n" + LOAD)],
        check="test_no_file",
        says="raises nothing",
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
        check="test_no_file",
    ),
    Wrong(
        "goes on before the others have read",
        edits=[("    dist.barrier()  # the next save must not come before the last reader\n", "")],
        check="test_other_device",
        says="rank 0 has replaced the file",
    ),
    Wrong(
        "what is called module is DDP's",
        edits=[(BARE, '    return getattr(model, "module", model)\n')],
        check="test_file",
    ),
    Wrong(
        "the first rank of each machine writes",
        edits=[
            ("    if dist.get_rank() == 0:\n", '    if os.environ["LOCAL_RANK"] == "0":\n'),
            ("import torch\n", "import os\n\nimport torch\n"),
        ],
        check="test_file",
    ),
    Wrong(
        "a suffix of its own, which the path may have too",
        edits=[('path.with_name(path.name + ".draft")', 'path.with_suffix(".tmp")')],
        check="test_file",
        says="there is no file",
    ),
    Wrong(
        "all files are called .pt",
        edits=[("_write(Path(path), ", '_write(Path(path).with_suffix(".pt"), ')],
        check="test_failed_save",
    ),
    Wrong(
        "averages the statistics first",
        edits=[
            (
                "    error = None\n",
                """    error = None
    for buffer in _bare(model).buffers():
        if buffer.is_floating_point():
            dist.all_reduce(buffer)
            buffer /= dist.get_world_size()
""",
            )
        ],
        check="test_file",
        says="changes the model, a mode or the optimizer",
    ),
    Wrong(
        "training mode after loading",
        edits=[(LOADING, "    model.train()\n" + LOADING)],
        check="test_other_device",
        says="training flags",
    ),
    Wrong(
        "tells the others of errors of the disk only",
        edits=[("except Exception as caught", "except (OSError, RuntimeError) as caught")],
        check="test_failed_save",
        says="rank 1 waits in broadcast_object_list",
    ),
    Wrong(
        "saves in evaluation mode, and stays in it",
        edits=[("    error = None\n", "    error = None\n    model.eval()\n")],
        check="test_file",
        says="a mode",
    ),
    Wrong(
        "a state_dict that raises is not told to the others",
        edits=[
            (
                "    if dist.get_rank() == 0:\n        try:\n",
                "    if dist.get_rank() == 0:\n        model.state_dict()\n        try:\n",
            )
        ],
        check="test_failed_save",
        says="a state_dict that raises",
    ),
    Wrong(
        "the other file stays where it cannot be renamed",
        edits=[
            (
                DRAFT,
                """    draft = path.with_name(path.name + ".draft")
    try:
        torch.save(checkpoint, draft)
    except Exception:
        draft.unlink(missing_ok=True)
        raise
    draft.replace(path)
""",
            )
        ],
        check="test_failed_save",
        says="folder.draft",
    ),
    Wrong(
        "the other file of a bare name lies in the temporary folder",
        edits=[
            (
                'path.with_name(path.name + ".draft")',
                "Path(tempfile.mktemp(dir=os.path.dirname(path) or None))",
            ),
            ("from pathlib import Path", "import os\nimport tempfile\nfrom pathlib import Path"),
        ],
        check="test_file",
        says="another folder",
    ),
    Wrong(
        "sends the error itself, which may not come back out of its pickle",
        edits=[("told = [error and repr(error)]", "told = [error]")],
        check="test_failed_save",
    ),
    Right(
        "removes the draft where it learns of the error",
        edits=[
            (
                DRAFT,
                '    draft = path.with_name(path.name + ".draft")\n    torch.save(checkpoint, draft)\n    draft.replace(path)\n',
            ),
            (
                "            error = caught\n",
                "            error = caught\n"
                '            Path(path).with_name(Path(path).name + ".draft").unlink(missing_ok=True)\n',
            ),
        ],
    ),
    Right(
        "gathers news from everybody, a named temporary file, a lambda for the device",
        edits=[
            (
                "    told = [error and repr(error)]\n    dist.broadcast_object_list(told, src=0)  # good or bad news from rank 0, for which the others wait here\n",
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
            (
                BARE,
                "    return getattr(model, 'module') if type(model) is DistributedDataParallel else model\n",
            ),
        ],
    ),
    Right(
        "bytes first, a flag as a tensor, and rank 0 reads for all",
        edits=[
            (
                TELL,
                "    told = [None]\n    flag = torch.tensor(float(error is not None))\n    dist.all_reduce(flag)\n    if flag and error is None:\n        told = ['it failed']\n",
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
    try:
        os.rename(draft, path)
    except OSError:
        os.remove(draft)
        raise
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
    Wrong(
        "a draft that must be new, of bytes that are made first",
        edits=[
            (
                DRAFT,
                """    memory = io.BytesIO()
    torch.save(checkpoint, memory)
    draft = path.with_name(path.name + ".draft")
    with draft.open("xb") as file:
        file.write(memory.getbuffer())
    try:
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
""",
            ),
            ("from pathlib import Path\n", "import io\nfrom pathlib import Path\n"),
        ],
        check="test_killed_while_it_writes",
        says="FileExistsError",
    ),
    Wrong(
        "never closes the file that mkstemp has opened",
        edits=[
            (
                '    draft = path.with_name(path.name + ".draft")\n',
                "    import tempfile\n\n    draft = Path(tempfile.mkstemp(dir=path.parent)[1])\n",
            ),
        ],
        check="test_file",
        says="leaves a file open on rank 0",
    ),
    Wrong(
        "closes the file only where all goes well",
        edits=[
            (
                DRAFT,
                DRAFT.replace(
                    "        torch.save(checkpoint, draft)\n",
                    '        file = draft.open("wb")\n        torch.save(checkpoint, file)\n        file.close()\n',
                ),
            )
        ],
        check="test_failed_save",
        says="still open",
    ),
]
