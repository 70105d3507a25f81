"""Answers to resume_exactly that people write."""

from grader.authoring.specimen import Right, Works, Wrong

ORDER = "            self.order, self.place = torch.randperm(self.size, generator=self.generator), 0\n"
ROWS = "        rows = self.order[self.place : self.place + self.batch]  # (rows,)\n"
STATE = '        return {"order": self.order.clone(), "place": self.place, "stream": self.generator.get_state()}\n'
LOAD = '        self.order, self.place = state["order"].clone(), state["place"]\n        self.generator.set_state(state["stream"])\n'
PYTHON = '    random.setstate(streams["python"])\n'
NUMPY = '    np.random.set_state(streams["numpy"])\n'
TORCH = '    torch.set_rng_state(streams["torch"])\n'
CUDA = '    if streams["cuda"] and torch.cuda.is_available():\n        torch.cuda.set_rng_state_all(streams["cuda"])\n'
LOOP = '    for name, thing in things.items():\n        thing.load_state_dict(saved["states"][name])\n'
SAVE = '        torch.save({"step": step, "states": states, "random": _random_states()}, new)\n'
REPLACE = "        os.replace(new, path)  # noqa: PTH105\n"
MAKE = (
    "    with tempfile.TemporaryDirectory(dir=Path(path).absolute().parent) as folder:\n"
    '        new = Path(folder) / "new"\n'
)
WRITE = MAKE + SAVE + REPLACE
NAMES = '    if saved["states"].keys() != things.keys():\n'

SPECIMENS = [
    Wrong(
        "the streams of CUDA devices are saved, and not set",
        edits=[(CUDA, "")],
        check="test_cuda_streams",
        says="two CUDA devices",
    ),
    Wrong(
        "things in the order of the checkpoint, whatever their names",
        edits=[
            (
                LOOP,
                '    for thing, state in zip(things.values(), saved["states"].values()):\n        thing.load_state_dict(state)\n',
            )
        ],
        check="test_any_things",
        rung="job",
    ),
    Wrong("forgets Python's stream", edits=[(PYTHON, "")], check="test_other_streams", says="random.gauss"),
    Wrong("forgets NumPy's stream", edits=[(NUMPY, "")], check="test_other_streams", says="np.random"),
    Wrong(
        "forgets torch's stream",
        edits=[(TORCH, "")],
        check="test_run_goes_on",
        says="random stream is not given back",
        rung="job",
    ),
    Wrong(
        "saves a seed in place of the state",
        edits=[
            ('"torch": torch.get_rng_state()', '"torch": torch.initial_seed()'),
            (TORCH, '    torch.manual_seed(streams["torch"])\n'),
        ],
        check="test_run_goes_on",
        rung="job",
    ),
    Wrong(
        "returns the step after",
        edits=[('int(saved["step"])', 'int(saved["step"]) + 1')],
        check="test_run_goes_on",
        rung="job",
    ),
    Wrong(
        "forgets the optimizer",
        edits=[(LOOP, LOOP.replace("        thing.", '        if name != "optimizer":\n            thing.'))],
        check="test_run_goes_on",
        says="momentum",
        rung="job",
    ),
    Wrong(
        "forgets the schedule",
        edits=[(LOOP, LOOP.replace("        thing.", '        if name != "schedule":\n            thing.'))],
        check="test_run_goes_on",
        says="schedule begins anew",
        rung="job",
    ),
    Wrong(
        "a sampler that starts the epoch again",
        edits=[(LOAD, LOAD + "        self.place = 0\n")],
        check="test_sampler_goes_on",
        says="epoch begins again",
        rung="job",
    ),
    Wrong(
        "the stream is not part of the sampler's state",
        edits=[(LOAD, LOAD.replace('        self.generator.set_state(state["stream"])\n', ""))],
        check="test_sampler_goes_on",
        says="next epoch has another order",
        rung="job",
    ),
    Wrong(
        "shuffles with the global stream",
        edits=[(ORDER, ORDER.replace(", generator=self.generator", ""))],
        check="test_sampler_stream",
    ),
    Wrong(
        "the same order in each epoch",
        edits=[(ORDER, "            self.generator.manual_seed(self.generator.initial_seed())\n" + ORDER)],
        check="test_sampler_epochs",
        says="same order",
        rung="job",
    ),
    Wrong(
        "ignores the seed",
        edits=[("manual_seed(seed)", "manual_seed(0)")],
        check="test_sampler_stream",
        says="same order",
    ),
    Wrong(
        "draws rows with repetition",
        edits=[(ORDER, ORDER.replace("torch.randperm(self.size,", "torch.randint(self.size, (self.size,),"))],
        check="test_sampler_epochs",
        rung="job",
    ),
    Wrong(
        "drops the short batch",
        edits=[("if self.place >= len(self.order):", "if self.place + self.batch > len(self.order):")],
        check="test_sampler_epochs",
        rung="job",
    ),
    Wrong(
        "writes to the path itself",
        edits=[
            (
                WRITE,
                '    torch.save({"step": step, "states": states, "random": _random_states()}, path)\n',
            )
        ],
        check="test_atomic",
    ),
    Wrong(
        "loads whatever pickle holds",
        edits=[("weights_only=True)", "weights_only=False)")],
        check="test_strangers_files",
    ),
    Wrong(
        "loads what it finds",
        edits=[(NAMES, '    if not things.keys() <= saved["states"].keys():\n')],
        check="test_other_names",
    ),
    Wrong(
        "leaves the other file where saving fails",
        edits=[
            (
                WRITE,
                '    new = str(path) + ".tmp"\n' + (SAVE + REPLACE).replace("        ", "    "),
            )
        ],
        check="test_no_other_files",
        says="failed",
    ),
    Works(
        "as PyTorch's tutorial has it, with the random state",
        code="""
import torch


class EpochSampler:
    def __init__(self, size, batch, seed):
        self.size, self.batch = size, batch
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)
        self.order = torch.randperm(size, generator=self.generator)
        self.position = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.position >= self.size:
            self.order = torch.randperm(self.size, generator=self.generator)
            self.position = 0
        rows = self.order[self.position : self.position + self.batch]
        self.position += self.batch
        return rows

    def state_dict(self):
        return {
            "order": self.order,
            "position": self.position,
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state):
        self.order = state["order"]
        self.position = state["position"]
        self.generator.set_state(state["generator"])


def save_checkpoint(path, things, step):
    checkpoint = {f"{name}_state_dict": thing.state_dict() for name, thing in things.items()}
    checkpoint["step"] = step
    checkpoint["rng_state"] = torch.get_rng_state()
    torch.save(checkpoint, path)


def load_checkpoint(path, things):
    checkpoint = torch.load(path)
    for name, thing in things.items():
        thing.load_state_dict(checkpoint[f"{name}_state_dict"])
    torch.set_rng_state(checkpoint["rng_state"])
    return checkpoint["step"]
""",
    ),
    Works(
        "all streams, pickled as they come, and a sampler that shuffles with the global one",
        code="""
import random

import numpy as np
import torch


class EpochSampler:
    def __init__(self, size, batch, seed):
        torch.manual_seed(seed)
        self.size, self.batch = size, batch
        self.left = []

    def __next__(self):
        if len(self.left) == 0:
            self.left = list(torch.randperm(self.size).split(self.batch))
        return self.left.pop(0)

    def state_dict(self):
        return {"left": list(self.left)}

    def load_state_dict(self, state):
        self.left = list(state["left"])


def save_checkpoint(path, things, step):
    torch.save(
        {
            "step": step,
            "things": {k: v.state_dict() for k, v in things.items()},
            "python": random.getstate(),
            "numpy": np.random.get_state(),
            "torch": torch.get_rng_state(),
        },
        path,
    )


def load_checkpoint(path, things):
    ckpt = torch.load(path, weights_only=False)
    for k in things:
        things[k].load_state_dict(ckpt["things"][k])
    random.setstate(ckpt["python"])
    np.random.set_state(ckpt["numpy"])
    torch.set_rng_state(ckpt["torch"])
    return ckpt["step"]
""",
    ),
    Right(
        "a fixed name beside it, bytes, and a list",
        edits=[
            (
                WRITE,
                """    import io

    buffer = io.BytesIO()
    torch.save([int(step), states, _random_states()], buffer)
    beside = Path(str(path) + ".tmp")
    try:
        beside.write_bytes(buffer.getvalue())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
""",
            ),
            (
                ", weights_only=True)\n",
                ', weights_only=True)\n    saved = dict(zip(("step", "states", "random"), saved))\n',
            ),
        ],
    ),
    Right(
        "a sampler that counts epochs and batches",
        edits=[
            (
                "        self.order, self.place = torch.empty(0, dtype=torch.int64), 0\n",
                "        self.seed, self.count = seed, 0\n",
            ),
            (
                "        if self.place >= len(self.order):\n"
                + ORDER
                + ROWS
                + "        self.place += self.batch\n",
                """        per_epoch = -(-self.size // self.batch)
        epoch, place = divmod(self.count, per_epoch)
        self.count += 1
        stream = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        rows = torch.randperm(self.size, generator=stream).split(self.batch)[place]
        rows = rows.clone()
""",
            ),
            (STATE, '        return {"seed": self.seed, "count": self.count}\n'),
            (LOAD, '        self.seed, self.count = state["seed"], state["count"]\n'),
        ],
    ),
]
