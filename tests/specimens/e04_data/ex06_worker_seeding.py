"""Answers to worker_seeding that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BODY = """        worker = get_worker_info()
        worker_seed = None if worker is None else worker.seed  # new in each worker and each time it starts
        if self._generator is None or worker_seed != self._worker_seed:
            parts = [self.seed] if worker_seed is None else [self.seed, worker_seed]
            mixed = np.random.SeedSequence(parts).generate_state(1, np.uint64)  # a sum would collide
            self._generator = torch.Generator().manual_seed(int(mixed[0]))
            self._worker_seed = worker_seed
        return self._generator
"""
PARTS = "            parts = [self.seed] if worker_seed is None else [self.seed, worker_seed]\n"
MIXED = (
    "            mixed = np.random.SeedSequence(parts).generate_state(1, np.uint64)  # a sum would collide\n"
)
STALE = "        if self._generator is None or worker_seed != self._worker_seed:\n"
READ = "        return clean + self.noise * torch.randn(clean.shape, generator=self._stream(), dtype=clean.dtype)\n"
SEED = "        self.seed = seed\n"
STATE = """    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_generator": None}

"""
ONCE = """        if self._generator is None:
            worker = get_worker_info()
            self._generator = torch.Generator().manual_seed(self.seed if worker is None else worker.seed)
        return self._generator
"""


def by_parts(parts):
    return [(PARTS, f"            parts = {parts}\n")]


SPECIMENS = [
    Wrong(
        "one generator from the start",
        edits=[
            (SEED, "        self.generator = torch.Generator().manual_seed(seed)\n"),
            (BODY, "        return self.generator\n"),
        ],
        rung="job",
        check="test_within_an_epoch",
        says="a copy of the same generator",
    ),
    Wrong(
        "the generator follows the worker's number alone",
        edits=by_parts("[self.seed] if worker is None else [self.seed, worker.id + 1]"),
        rung="job",
        check="test_epochs_differ",
        says="start anew for every epoch",
    ),
    Wrong(
        "by seed and index",
        edits=[
            (READ, READ.replace("self._stream()", "torch.Generator().manual_seed(self.seed * 1003 + index)"))
        ],
        rung="job",
        check="test_same_recording_again",
        says="is read 5 times",
    ),
    Wrong(
        "a new generator for each reading",
        edits=[(STALE, "        if True:\n")],
        rung="job",
        check="test_within_an_epoch",
        says="with 0 workers",
    ),
    Wrong(
        "seeded from the operating system",
        edits=by_parts("None"),
        rung="job",
        check="test_runs_repeat",
        says="no seed decides",
    ),
    Wrong(
        "uniform noise",
        edits=[(READ, READ.replace("torch.randn(", "torch.rand("))],
        rung="job",
        check="test_noise_is_normal",
        says="its mean",
    ),
    Wrong(
        "one number for a whole recording",
        edits=[(READ, READ.replace("clean.shape,", "(1,),"))],
        rung="job",
        check="test_noise_is_normal",
        says="all samples of a reading",
    ),
    Wrong(
        "adds to the recordings",
        edits=[(READ, READ.replace("return clean +", "clean +=") + "        return clean\n")],
        rung="job",
        check="test_recordings_stay",
        says="changes",
    ),
    Wrong(
        "one generator, built at the first reading",
        edits=[(STALE, "        if self._generator is None:\n")],
        rung="fine",
        check="test_read_before",
        says="came along",
    ),
    Wrong(
        "the sum of both seeds",
        edits=[*by_parts("0"), (MIXED, "            mixed = [self.seed + (worker_seed or 0)]\n")],
        rung="fine",
        check="test_seeds",
        says="share noise",
    ),
    Wrong(
        "one generator for the whole module",
        edits=[
            ("class NoisyRecordings", "_streams = {}\n\n\nclass NoisyRecordings"),
            (STALE, "        if worker_seed not in _streams:\n"),
            (
                "            self._generator = torch.Generator().manual_seed(int(mixed[0]))\n            self._worker_seed = worker_seed\n        return self._generator\n",
                "            _streams[worker_seed] = torch.Generator().manual_seed(int(mixed[0]))\n        return _streams[worker_seed]\n",
            ),
        ],
        rung="fine",
        check="test_independent_datasets",
    ),
    Wrong(
        "the generator is sent along", edits=[(STATE, "")], rung="fine", check="test_pickled", says="pickle"
    ),
    Wrong(
        "the recording itself where there is no noise",
        edits=[(READ, "        if self.noise == 0:\n            return clean\n" + READ)],
        rung="fine",
        check="test_dtype_and_memory",
    ),
    Works(
        "torch's own stream, which the loader seeds in each worker",
        edits=[(READ, "        return clean + self.noise * torch.randn_like(clean)\n")],
    ),
    Works(
        "a generator for each worker, built at the first reading from the worker's seed",
        edits=[(STATE, ""), (BODY, ONCE)],
    ),
    Works(
        "NumPy's generator for each worker",
        edits=[
            (STATE, ""),
            (BODY, ONCE.replace("torch.Generator().manual_seed(", "np.random.default_rng(")),
            (
                READ,
                "        draw = self._stream().standard_normal(clean.shape)\n"
                "        return (clean + self.noise * torch.from_numpy(draw)).to(clean.dtype)\n",
            ),
        ],
    ),
    Right(
        "NumPy, and a new stream for each reading",
        edits=[
            (SEED, SEED + "        self.read = {}\n"),
            (
                READ,
                """        worker = get_worker_info()
        key = (self.seed, 0, 0) if worker is None else (self.seed, 1, worker.seed)
        self.read[key] = self.read.get(key, -1) + 1
        draw = np.random.default_rng([*key, self.read[key]]).standard_normal(tuple(clean.shape))
        return torch.add(clean, torch.as_tensor(draw).to(clean), alpha=self.noise)
""",
            ),
        ],
    ),
    Right(
        "one long stream from a hash",
        edits=[
            ("import numpy as np\n", "import hashlib\n\n"),
            (
                MIXED,
                "            mixed = [int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:7], 'big')]\n",
            ),
        ],
    ),
]
