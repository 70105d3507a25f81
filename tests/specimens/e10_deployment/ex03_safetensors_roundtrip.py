"""Answers to safetensors_roundtrip that must fail, and some that must pass."""

from grader.authoring.specimen import Right, Wrong

DUMP = "    about = _as_json(dict(metadata or {}))\n"
EQUAL = """    if json.loads(about) != dict(metadata or {}):
        raise TypeError(f"the metadata would come back as {about}")
"""
TYPES = """        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}, not a tensor")
"""
NEGATED = """        negated = tensor.is_conj(), tensor.is_neg()  # as it is read: in memory stand other numbers
"""
SEEN = "        seen = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, negated)\n"
IF = "        if tensor.numel() > 0 and seen in names:  # all empty tensors are at address 0\n"
CLONE = "plain.clone(memory_format=torch.contiguous_format)"
SAVE = """    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:  # gone in any case
        save_file(once, Path(folder, "new"), {"shared": json.dumps(shared), "metadata": about})
        Path(folder, "new").replace(path)  # all of it or nothing
"""
LOAD = "    tensors = load_file(path)\n"
HEADER = "        header = file.metadata() or {}\n"
SHARE = "        tensors[name] = tensors[first]\n"
LAST = '    return tensors, json.loads(header.get("metadata", "{}"))\n'

SPECIMENS = [
    Wrong(
        "views of one block that are not contiguous are all the same",
        edits=[(SEEN, SEEN.replace("tensor.stride()", "tensor.is_contiguous()"))],
        check="test_overlapping",
    ),
    Wrong(
        "every name in full",
        edits=[(IF, "        if False:\n")],
        check="test_shared",
        says="names of the tensors in the file",
    ),
    Wrong(
        "compares Python objects",
        edits=[(SEEN, "        seen = (id(tensor),)\n")],
        check="test_shared",
        says="names of the tensors in the file",
    ),
    Wrong(
        "copies of what was shared",
        edits=[(SHARE, "        tensors[name] = tensors[first].clone()\n")],
        check="test_shared",
        says="share memory",
    ),
    Wrong(
        "under the last name",
        edits=[
            (
                "    for name, tensor in tensors.items():\n",
                "    for name, tensor in reversed(tensors.items()):\n",
            )
        ],
        check="test_shared",
    ),
    Wrong(
        "under the first name in the alphabet",
        edits=[
            (
                "    for name, tensor in tensors.items():\n",
                "    for name, tensor in sorted(tensors.items()):\n",
            )
        ],
        check="test_shared",
    ),
    Wrong(
        "forgets the other names",
        edits=[(SAVE, SAVE.replace("json.dumps(shared)", '"{}"'))],
        check="test_shared",
        says="shared",
    ),
    Wrong(
        "says which names a tensor has, the other way round",
        edits=[
            (SAVE, SAVE.replace("json.dumps(shared)", "json.dumps({v: k for k, v in shared.items()})")),
            (SHARE, "        tensors[first] = tensors[name]\n"),
        ],
        check="test_shared",
    ),
    Wrong(
        "saves parameters as parameters",
        edits=[
            (
                SHARE,
                SHARE
                + "    tensors = {name: t.requires_grad_(t.is_floating_point()) for name, t in tensors.items()}\n",
            )
        ],
        check="test_shared",
        says="requires a gradient",
    ),
    Wrong(
        "the address alone decides",
        edits=[(SEEN, "        seen = tensor.data_ptr()\n")],
        check="test_overlapping",
    ),
    Wrong(
        "the storage alone decides",
        edits=[(SEEN, "        seen = tensor.untyped_storage().data_ptr()\n")],
        check="test_overlapping",
    ),
    Wrong(
        "address and shape decide",
        edits=[(SEEN, "        seen = (tensor.data_ptr(), tensor.shape)\n")],
        check="test_overlapping",
    ),
    Wrong(
        "address, shape and strides decide",
        edits=[(SEEN, SEEN.replace(", tensor.dtype", ""))],
        check="test_overlapping",
    ),
    Wrong(
        "address, size and strides decide",
        edits=[(SEEN, SEEN.replace("tensor.shape", "tensor.numel()"))],
        check="test_overlapping",
    ),
    Wrong(
        "equal values decide",
        edits=[
            (SEEN, "        seen = (tensor.shape, tensor.dtype, tuple(tensor.flatten().tolist()))\n"),
        ],
        check="test_overlapping",
    ),
    Wrong(
        "contiguous, but not copied",
        edits=[(CLONE, "tensor.detach().contiguous()")],
        check="test_overlapping",
    ),
    Wrong(
        "copied, but not contiguous",
        edits=[(CLONE, "tensor.detach().clone()")],
        check="test_overlapping",
    ),
    Wrong(
        "makes the inputs contiguous in place",
        edits=[
            (CLONE, "tensor.detach().clone(memory_format=torch.contiguous_format)"),
            (SEEN, SEEN + "        tensor.data = tensor.data.contiguous()\n"),
        ],
        check="test_overlapping",
        says="strides",
    ),
    Wrong(
        "all empty tensors are one",
        edits=[
            (
                SEEN,
                "        seen = (tensor.data_ptr(), tensor.shape[1:], tensor.stride(), tensor.dtype) if tensor.numel() else 0\n",
            ),
            (IF, "        if seen in names:\n"),
        ],
        check="test_shapes_and_dtypes",
    ),
    Wrong(
        "everything in float32",
        edits=[
            (
                "once[name] = " + CLONE,
                "once[name] = tensor.detach().float().clone(memory_format=torch.contiguous_format)",
            )
        ],
        check="test_shapes_and_dtypes",
        says="dtype",
    ),
    Wrong(
        "at least one dimension",
        edits=[("once[name] = " + CLONE, "once[name] = torch.atleast_1d(" + CLONE + ")")],
        check="test_shapes_and_dtypes",
        says="shape",
    ),
    Wrong(
        "leaves out what is empty",
        edits=[(SEEN, "        if tensor.numel() == 0:\n            continue\n" + SEEN)],
        check="test_shapes_and_dtypes",
    ),
    Wrong(
        "torch.save, with the tensors as they are",
        edits=[
            (SAVE, "    torch.save([dict(tensors), json.loads(about)], path)\n"),
            (LOAD, "    return tuple(torch.load(path))\n    tensors = {}\n"),
        ],
        check="test_bytes_on_disk",
    ),
    Wrong(
        "the whole base of a view",
        edits=[
            (
                SAVE,
                '    whole = {f"base of {n}": torch.empty(0).set_(t.untyped_storage()) for n, t in tensors.items() if t.untyped_storage().nbytes() > 100_000}\n'
                + SAVE.replace("save_file(once", "save_file({**whole, **once}"),
            )
        ],
        check="test_bytes_on_disk",
    ),
    Wrong(
        "keeps what it has read",
        edits=[
            ("\n\ndef load_tensors(", "\n\n_read = {}\n\n\ndef load_tensors("),
            (LOAD, "    tensors = _read[str(path)] = _read.get(str(path)) or load_file(path)\n"),
        ],
        check="test_loaded_memory",
    ),
    Wrong(
        "metadata as text",
        edits=[
            (DUMP + EQUAL, "    about = {str(k): str(v) for k, v in (metadata or {}).items()}\n"),
            (SAVE, '    save_file(once, path, {**about, "shared": json.dumps(shared)})\n'),
            (LAST, '    return tensors, {k: v for k, v in header.items() if k != "shared"}\n'),
        ],
        check="test_metadata",
    ),
    Wrong(
        "each entry of the metadata beside our own",
        edits=[
            (
                SAVE,
                '    each = {k: json.dumps(v) for k, v in (metadata or {}).items()}\n    save_file(once, path, {"shared": json.dumps(shared), **each})\n',
            ),
            (LAST, '    return tensors, {k: json.loads(v) for k, v in header.items() if k != "shared"}\n'),
        ],
        check="test_metadata",
        says="header",
    ),
    Wrong(
        "ignores the metadata",
        edits=[(SAVE, SAVE.replace('"metadata": about', '"metadata": "{}"'))],
        check="test_metadata",
    ),
    Wrong(
        "writes Python in place of JSON",
        edits=[
            (DUMP + EQUAL, "    about = repr(dict(metadata or {}))\n"),
            (LAST, '    import ast\n    return tensors, ast.literal_eval(header.get("metadata", "{}"))\n'),
        ],
        check="test_metadata",
    ),
    Wrong(
        "adds the format to the metadata",
        edits=[(DUMP, '    metadata = {**(metadata or {}), "format": "pt"}\n' + DUMP)],
        check="test_metadata",
    ),
    Wrong(
        "does not look whether metadata comes back",
        edits=[(EQUAL, "")],
        check="test_refused",
        says="tuple",
    ),
    Wrong(
        "turns into text what JSON does not know",
        edits=[(DUMP, "    about = json.dumps(dict(metadata or {}), default=str)\n"), (EQUAL, "")],
        check="test_refused",
        says="an object",
    ),
    Wrong(
        "looks at the outermost values only",
        edits=[
            (
                EQUAL,
                "    if any(isinstance(v, (tuple, float)) and v != v or type(v) is tuple for v in (metadata or {}).values()) or any(not isinstance(k, str) for k in (metadata or {})):\n        raise TypeError('metadata')\n",
            )
        ],
        check="test_refused",
        says="inside",
    ),
    Wrong(
        "skips what is no tensor",
        edits=[(TYPES, "        if not isinstance(tensor, Tensor):\n            continue\n")],
        check="test_refused",
        says="list for a tensor",
    ),
    Wrong(
        "makes tensors of lists",
        edits=[(TYPES, "        tensor = torch.as_tensor(tensor if tensor is not None else [])\n")],
        check="test_refused",
        says="list for a tensor",
    ),
    Wrong(
        "removes the old file first",
        edits=[(DUMP, "    Path(path).unlink(missing_ok=True)\n" + DUMP)],
        check="test_refused",
        says="the file that was there",
    ),
    Wrong(
        "removes the old file when all is checked",
        edits=[(SAVE, "    Path(path).unlink(missing_ok=True)\n" + SAVE)],
        check="test_when_writing_fails",
        says="the file that was there",
    ),
    Wrong(
        "writes over the old file",
        edits=[
            (
                SAVE,
                """    from safetensors.torch import save
    data = save(once, {"shared": json.dumps(shared), "metadata": about})
    Path(path).write_bytes(data)
""",
            )
        ],
        check="test_when_writing_fails",
        says="full disk",
    ),
    Wrong(
        "leaves its new file behind",
        edits=[
            (
                SAVE,
                """    new = Path(path).with_suffix(".tmp")
    save_file(once, new, {"shared": json.dumps(shared), "metadata": about})
    new.replace(path)
""",
            )
        ],
        check="test_when_writing_fails",
        says="files in the folder",
    ),
    Wrong(
        "cleans up after an Exception, but not after Ctrl-C",
        edits=[
            (
                SAVE,
                """    new = Path(path).with_name("new " + Path(path).name)
    try:
        save_file(once, new, {"shared": json.dumps(shared), "metadata": about})
        new.replace(path)
    except Exception:
        new.unlink(missing_ok=True)
        raise
""",
            )
        ],
        check="test_when_writing_fails",
        says="KeyboardInterrupt",
    ),
    Wrong(
        "compares storages, not addresses: two tensors of one NumPy array have one each",
        edits=[
            (
                SEEN,
                SEEN.replace("tensor.data_ptr()", "tensor.untyped_storage()._cdata, tensor.storage_offset()"),
            )
        ],
        check="test_shared",
        says="names of the tensors in the file",
    ),
    Wrong(
        "makes tensors contiguous first: a tied one that is not gets a copy for each name",
        edits=[
            (SEEN, "        tensor = tensors[name] = tensor.detach().contiguous()\n" + SEEN),
            ("    names: dict[", "    tensors = dict(tensors)\n    names: dict["),
        ],
        check="test_shared",
        says="names of the tensors in the file",
    ),
    Wrong(
        "writes infinity",
        edits=[(", allow_nan=False", "")],
        check="test_refused",
        says="infinity",
    ),
    Wrong(
        "wants .safetensors",
        edits=[
            (
                LOAD,
                """    from safetensors import SafetensorError
    if Path(path).exists() and Path(path).suffix != ".safetensors":
        raise SafetensorError(f"{path} is no .safetensors file")
"""
                + LOAD,
            )
        ],
        check="test_other_programs",
    ),
    Wrong(
        "empty tensors of one shape are one",
        edits=[(IF, "        if seen in names:\n")],
        check="test_shapes_and_dtypes",
    ),
    Wrong(
        "looks at the metadata after writing",
        edits=[(EQUAL, ""), (SAVE, SAVE + EQUAL)],
        check="test_refused",
        says="files in the folder",
    ),
    Wrong(
        "expects its own header",
        edits=[(LAST, '    return tensors, json.loads(header["metadata"])\n')],
        check="test_other_programs",
    ),
    Wrong(
        "expects any header",
        edits=[(HEADER, "        header = file.metadata()\n")],
        check="test_other_programs",
    ),
    Wrong(
        "all entries of the header are metadata",
        edits=[
            (LAST, '    return tensors, json.loads(header["metadata"]) if "metadata" in header else header\n')
        ],
        check="test_other_programs",
        says="other entries",
    ),
    Wrong(
        "falls back to torch.load",
        edits=[
            (
                LOAD,
                "    try:\n        tensors = load_file(path)\n    except FileNotFoundError:\n        raise\n    except Exception:\n        return torch.load(path, weights_only=False), {}\n",
            )
        ],
        check="test_no_safetensors",
    ),
    Wrong(
        "nothing in a damaged file",
        edits=[
            (
                LOAD,
                "    try:\n        tensors = load_file(path)\n    except FileNotFoundError:\n        raise\n    except Exception:\n        return {}, {}\n",
            )
        ],
        check="test_no_safetensors",
        says="no error",
    ),
    Wrong(
        "nothing where there is no file",
        edits=[(LOAD, "    if not Path(path).exists():\n        return {}, {}\n" + LOAD)],
        check="test_no_safetensors",
        says="no error",
    ),
    Right(
        "serialised in memory, aliases by searching",
        edits=[
            (
                DUMP + EQUAL,
                """    import os
    import safetensors.torch

    metadata = {} if metadata is None else dict(metadata)
    about = json.dumps(metadata, allow_nan=False, indent=1)

    def strict(value):
        if isinstance(value, dict):
            if not all(type(key) is str for key in value):
                raise TypeError("JSON knows no names but strings")
            for item in value.values():
                strict(item)
        elif isinstance(value, list):
            for item in value:
                strict(item)
        elif isinstance(value, tuple):
            raise TypeError("JSON has no tuples")

    strict(metadata)

    def same(a, b):
        return (
            a.numel() > 0
            and a.dtype == b.dtype
            and (a.data_ptr(), a.shape, a.stride()) == (b.data_ptr(), b.shape, b.stride())
        )

    if any(not torch.is_tensor(t) for t in tensors.values()):
        raise ValueError("all tensors must be tensors")
""",
            ),
            (
                TYPES + NEGATED + SEEN,
                "        first = next((n for n in once if same(tensors[n], tensor)), None)\n",
            ),
            (IF, "        if first is not None:\n"),
            ("            shared[name] = names[seen]\n", "            shared[name] = first\n"),
            ("        names[seen] = name\n", ""),
            (
                SAVE,
                """    data = safetensors.torch.save(
        {n: t.data.contiguous().clone() for n, t in tensors.items() if n in once},
        {"shared": json.dumps(shared), "metadata": about},
    )
    scratch = Path(f"{path}.{os.getpid()}")
    try:
        scratch.write_bytes(data)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
""",
            ),
        ],
    ),
    Right(
        "no entry in the header where there is nothing to say",
        edits=[
            (
                SAVE,
                '    entries = {"shared": json.dumps(shared), "metadata": about}\n    entries = {k: v for k, v in entries.items() if v != "{}"}\n'
                + SAVE.replace('{"shared": json.dumps(shared), "metadata": about}', "entries or None"),
            ),
        ],
    ),
    Right(
        "reads tensor by tensor, and resolves names at the end",
        edits=[
            (
                LOAD,
                """    with safe_open(str(path), "pt", device="cpu") as file:
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}
""",
            ),
            (
                '    for name, first in json.loads(header.get("shared", "{}")).items():\n' + SHARE,
                """    if "shared" in header:
        tensors.update({name: tensors[kept].view_as(tensors[kept]) for name, kept in json.loads(header["shared"]).items()})
""",
            ),
        ],
    ),
    Wrong(
        "adds the usual ending where the name has none",
        edits=[
            (
                "    with tempfile.TemporaryDirectory(",
                '    path = Path(path) if Path(path).suffix else Path(path).with_suffix(".safetensors")\n    with tempfile.TemporaryDirectory(',
            )
        ],
        check="test_no_safetensors",
        says="no file at path",
    ),
    Wrong(
        "numbers are not worth sharing",
        edits=[("if tensor.numel() > 0 and seen", "if tensor.numel() > 1 and seen")],
        check="test_shared",
        says="again",
    ),
    Wrong(
        "deletes the old file, so that the new one can be renamed on Windows too",
        edits=[
            (
                SAVE,
                """    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        save_file(once, Path(folder, "new"), {"shared": json.dumps(shared), "metadata": about})
        Path(path).unlink(missing_ok=True)
        Path(folder, "new").rename(path)
""",
            )
        ],
        check="test_when_writing_fails",
        says="os.rename fail",
    ),
    Wrong(
        "another ending for the file that is written first, which path may have too",
        edits=[
            (
                SAVE,
                """    beside = Path(path).with_suffix(".tmp")
    try:
        save_file(once, beside, {"shared": json.dumps(shared), "metadata": about})
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
""",
            )
        ],
        check="test_no_safetensors",
        says="/model.tmp",
    ),
    Wrong(
        "writes to the system's folder for temporary files first, often another disk",
        edits=[(SAVE, SAVE.replace("dir=Path(path).parent", ""))],
        check="test_when_writing_fails",
        says="may lie on another disk",
    ),
    Wrong(
        "moves the file from the system's folder: between disks that copies, and may stop half way",
        edits=[
            (
                SAVE,
                SAVE.replace("dir=Path(path).parent", "").replace(
                    '        Path(folder, "new").replace(path)  # all of it or nothing\n',
                    """        if Path(path).is_dir():
            raise IsADirectoryError(path)
        __import__("shutil").move(Path(folder, "new"), path)
""",
                ),
            )
        ],
        check="test_when_writing_fails",
        says="shutil finds the disk full",
    ),
    Wrong(
        "looks for numbers among the names, not for True",
        edits=[
            (
                EQUAL,
                """    def plain(x):
        if isinstance(x, dict):
            if any(type(name) not in (str, bool) for name in x):
                raise TypeError(x)
            x = list(x.values())
        if isinstance(x, tuple):
            raise TypeError(x)
        if isinstance(x, list):
            for part in x:
                plain(part)

    plain(dict(metadata or {}))
""",
            )
        ],
        check="test_refused",
        says="True as a name inside",
    ),
    Right(
        "one more entry in the header, as other libraries ask for",
        edits=[('{"shared": json.dumps(shared)', '{"format": "pt", "shared": json.dumps(shared)')],
    ),
    Wrong(
        "writes a draft first, and then the file itself",
        edits=[
            (
                '        Path(folder, "new").replace(path)  # all of it or nothing\n',
                '        Path(path).write_bytes(Path(folder, "new").read_bytes())\n',
            )
        ],
        check="test_when_writing_fails",
        says="once the file itself is opened",
    ),
]
