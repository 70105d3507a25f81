"""Answers to safetensors_roundtrip that people write."""

from grader.authoring.specimen import Right, Works, Wrong

DUMP = "    about = json.dumps(dict(metadata or {}))\n"
EQUAL = """    if json.loads(about) != dict(metadata or {}):
        raise TypeError(f"the metadata would come back as {about}")
"""
SEEN = "        seen = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)\n"
IF = "        if tensor.numel() > 0 and seen in names:  # all empty tensors are at address 0\n"
CLONE = "tensor.detach().clone(memory_format=torch.contiguous_format)"
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
        "every name in full",
        edits=[(IF, "        if False:\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "compares Python objects",
        edits=[(SEEN, "        seen = (id(tensor),)\n")],
        check="test_tied",
        rung="job",
    ),
    Wrong(
        "copies of what was shared",
        edits=[(SHARE, "        tensors[name] = tensors[first].clone()\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "under the last name",
        edits=[
            (
                "    for name, tensor in tensors.items():\n",
                "    for name, tensor in reversed(tensors.items()):\n",
            )
        ],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "forgets the other names",
        edits=[(SAVE, SAVE.replace("json.dumps(shared)", '"{}"'))],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "copied, but not contiguous",
        edits=[(CLONE, "tensor.detach().clone()")],
        check="test_strided",
        rung="job",
    ),
    Wrong(
        "everything in float32",
        edits=[
            (
                "once[name] = " + CLONE,
                "once[name] = tensor.detach().float().clone(memory_format=torch.contiguous_format)",
            )
        ],
        check="test_dtypes",
        rung="job",
    ),
    Wrong(
        "metadata as text",
        edits=[
            (DUMP + EQUAL, "    about = {str(k): str(v) for k, v in (metadata or {}).items()}\n"),
            (SAVE, '    save_file(once, path, {**about, "shared": json.dumps(shared)})\n'),
            (LAST, '    return tensors, {k: v for k, v in header.items() if k != "shared"}\n'),
        ],
        check="test_metadata",
        rung="job",
    ),
    Wrong(
        "ignores the metadata",
        edits=[(SAVE, SAVE.replace('"metadata": about', '"metadata": "{}"'))],
        check="test_metadata",
        rung="job",
    ),
    Wrong(
        "the address alone decides",
        edits=[(SEEN, "        seen = tensor.data_ptr()\n")],
        check="test_overlapping",
    ),
    Wrong(
        "contiguous, but not copied",
        edits=[(CLONE, "tensor.detach().contiguous()")],
        check="test_overlapping",
    ),
    Wrong(
        "does not look whether metadata comes back",
        edits=[(EQUAL, "")],
        check="test_refused",
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
        check="test_when_saving_fails",
    ),
    Wrong(
        "expects any header",
        edits=[(HEADER, "        header = file.metadata()\n")],
        check="test_other_programs",
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
    ),
    Works(
        "addresses in a dictionary, and contiguous()",
        code="""
import json

from safetensors import safe_open
from safetensors.torch import save_file


def save_tensors(path, tensors, metadata=None):
    first, unique, shared = {}, {}, {}
    for name, t in tensors.items():
        ptr = t.data_ptr()
        if ptr in first:
            shared[name] = first[ptr]
        else:
            first[ptr] = name
            unique[name] = t.contiguous()
    header = {"shared": json.dumps(shared), "metadata": json.dumps(metadata or {})}
    save_file(unique, path, metadata=header)


def load_tensors(path):
    with safe_open(path, framework="pt") as f:
        header = f.metadata()
        tensors = {name: f.get_tensor(name) for name in f.keys()}
    for name, other in json.loads(header["shared"]).items():
        tensors[name] = tensors[other]
    return tensors, json.loads(header["metadata"])
""",
    ),
    Works(
        "storages, as Hugging Face compares them",
        code="""
import json
from collections import defaultdict

from safetensors import safe_open
from safetensors.torch import load_file, save_file


def save_tensors(path, tensors, metadata=None):
    groups = defaultdict(list)
    for name, tensor in tensors.items():
        groups[tensor.untyped_storage().data_ptr()].append(name)
    shared = {name: names[0] for names in groups.values() for name in names[1:]}
    state = {names[0]: tensors[names[0]].contiguous() for names in groups.values()}
    info = {"format": "pt", "shared": json.dumps(shared), "metadata": json.dumps(metadata or {})}
    save_file(state, str(path), metadata=info)


def load_tensors(path):
    tensors = load_file(str(path))
    with safe_open(str(path), framework="pt") as f:
        info = f.metadata()
    for alias, name in json.loads(info["shared"]).items():
        tensors[alias] = tensors[name]
    return tensors, json.loads(info["metadata"])
""",
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

""",
            ),
            (
                SEEN,
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
]
