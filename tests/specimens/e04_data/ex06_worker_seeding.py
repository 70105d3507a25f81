"""Answers to worker_seeding that people write."""

from grader.authoring.specimen import Right, Wrong

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
CLEAN = "        clean = self.recordings[index]  # (samples,)\n"
LENGTH = "        return len(self.recordings)\n"
SEED = "        self.seed = seed\n"


def by_parts(parts):
    return [(PARTS, f"            parts = {parts}\n")]


def by_seed(number):
    return [(PARTS, ""), (MIXED, f"            mixed = [{number}]\n")]


SPECIMENS = [
    Wrong(
        "twice the seed and that of the worker in one sum, so every second worker has the next seed's noise",
        edits=by_parts("[2 * self.seed + (worker_seed or 0)]"),
        check="test_seeds",
        says="share noise",
    ),
    Wrong(
        "starts at seed 1 where none is given",
        edits=[("seed: int = 0", "seed: int = 1")],
        check="test_seeds",
        says="without a seed",
    ),
    Wrong(
        "cuts the noise off at three standard deviations",
        edits=[(READ, READ.replace("dtype=clean.dtype)", "dtype=clean.dtype).clamp(-3, 3)"))],
        check="test_noise_is_normal",
        says="cut off",
    ),
    Wrong(
        "finite numbers for infinite ones, to be safe",
        edits=[(READ, READ.replace("clean +", "torch.nan_to_num(clean) +"))],
        check="test_reading",
        says="inf",
    ),
    Wrong(
        "pickling forgets the stream of the process that goes on",
        edits=[
            (
                '        return {**self.__dict__, "_generator": None}\n',
                "        self._generator = None\n        return self.__dict__\n",
            )
        ],
        check="test_pickled",
        says="pickled after the second",
    ),
    Wrong(
        "the low bits of the seed", edits=[(SEED, "        self.seed = seed % 2**16\n")], check="test_seeds"
    ),
    Wrong(
        "mixes by the hash of a string",
        edits=[(MIXED, "            mixed = [hash(str(parts)) % 2**32]\n")],
        check="test_started_again",
        says="hash",
    ),
    Wrong(
        "one generator, built at the first reading",
        edits=[(STALE, "        if self._generator is None:\n")],
        check="test_read_before",
        says="same noise",
    ),
    Wrong(
        "the generator follows the worker's number alone",
        edits=by_parts("[self.seed] if worker is None else [self.seed, worker.id + 1]"),
        check="test_epochs_differ",
        says="persistent_workers=False",
    ),
    Wrong(
        "the worker's number is added to the seed",
        edits=by_seed("self.seed + (0 if worker is None else worker.id + 1)"),
        check="test_seeds",
    ),
    Wrong(
        "the worker's seed alone",
        edits=by_parts("[worker_seed or 0]"),
        check="test_seeds",
        says="different seeds",
    ),
    Wrong(
        "the sum of both seeds",
        edits=by_seed("self.seed + (worker_seed or 0)"),
        check="test_seeds",
        says="different seeds",
    ),
    Wrong("both seeds, xored", edits=by_seed("self.seed ^ (worker_seed or 0)"), check="test_seeds"),
    Wrong(
        "the loader's seed alone, for all workers",
        edits=by_parts("[self.seed] if worker is None else [self.seed, worker.seed - worker.id]"),
        check="test_within_an_epoch",
        says="3 workers",
    ),
    Wrong(
        "by seed and index",
        edits=[
            (
                READ,
                READ.replace("self._stream()", "torch.Generator().manual_seed(self.seed * 1000003 + index)"),
            )
        ],
        check="test_epochs_differ",
    ),
    Wrong(
        "by seed, worker's seed and index",
        edits=[
            (READ, READ.replace("self._stream()", "self._stream(index)")),
            ("def _stream(self)", "def _stream(self, index)"),
            (STALE, "        if True:\n"),
            (PARTS, "            parts = [self.seed, worker_seed or 0, index]\n"),
        ],
        check="test_same_recording_again",
    ),
    Wrong(
        "by seed and the number of readings, counted in each process",
        edits=[
            (SEED, SEED + "        self.count = 0\n"),
            (
                BODY,
                "        self.count += 1\n        return torch.Generator().manual_seed(self.seed * 1000003 + self.count)\n",
            ),
        ],
        check="test_within_an_epoch",
    ),
    Wrong(
        "a new generator for each reading",
        edits=[(STALE, "        if True:\n")],
        check="test_same_recording_again",
    ),
    Wrong(
        "seeded from the operating system",
        edits=by_parts("None"),
        check="test_runs_repeat",
        says="second run",
    ),
    Wrong(
        "by process id",
        edits=[
            ("import numpy as np\n", "import os\n\nimport numpy as np\n"),
            (PARTS, "            parts = [self.seed, os.getpid()]\n"),
        ],
        check="test_runs_repeat",
    ),
    Wrong(
        "torch's global stream",
        edits=[(READ, "        return clean + self.noise * torch.randn_like(clean)\n")],
        check="test_global_streams",
        says="torch",
    ),
    Wrong(
        "torch's global stream in workers only",
        edits=[
            (
                BODY,
                """        if get_worker_info() is not None:
            return None
        if self._generator is None:
            self._generator = torch.Generator().manual_seed(self.seed)
        return self._generator
""",
            )
        ],
        check="test_global_streams",
        says="1 workers",
    ),
    Wrong(
        "NumPy's global stream",
        edits=[
            (
                READ,
                "        draw = np.random.standard_normal(tuple(clean.shape))\n        return clean + (self.noise * torch.from_numpy(draw)).to(clean.dtype)\n",
            )
        ],
        check="test_global_streams",
        says="NumPy",
    ),
    Wrong(
        "Python's global stream seeds each reading",
        edits=[
            ("import numpy as np\n", "import random\n\nimport numpy as np\n"),
            (BODY, "        return torch.Generator().manual_seed(random.getrandbits(60))\n"),
        ],
        check="test_global_streams",
        says="Python",
    ),
    Wrong(
        "seeds torch in the constructor",
        edits=[(SEED, SEED + "        torch.manual_seed(seed)\n")],
        check="test_global_streams",
    ),
    Wrong(
        "one generator for the whole module",
        edits=[
            ("class NoisyRecordings", "_streams: dict = {}\n\n\nclass NoisyRecordings"),
            (STALE, "        if (self.seed, worker_seed) not in _streams:\n"),
            (
                "            self._generator = torch.Generator().manual_seed(int(mixed[0]))\n            self._worker_seed = worker_seed\n        return self._generator\n",
                "            _streams[self.seed, worker_seed] = torch.Generator().manual_seed(int(mixed[0]))\n        return _streams[self.seed, worker_seed]\n",
            ),
        ],
        check="test_independent_datasets",
    ),
    Wrong(
        "cannot be pickled",
        edits=[(SEED, SEED + "        self.mix = lambda parts: np.random.SeedSequence(parts)\n")],
        check="test_pickled",
        says="does not reach",
    ),
    Wrong(
        "the generator is sent along",
        edits=[('"_generator": None}', "}")],
        check="test_pickled",
        says="once it was read",
    ),
    Wrong(
        "a generator from the start, seeded again in each worker",
        edits=[
            ('"_generator": None}', "}"),
            (
                "self._generator: torch.Generator | None = None",
                "self._generator = torch.Generator().manual_seed(seed)",
            ),
        ],
        check="test_pickled",
    ),
    Wrong(
        "keeps the recordings outside, for a small pickle",
        edits=[
            ("class NoisyRecordings", "_kept: list = []\n\n\nclass NoisyRecordings"),
            (
                "        self.recordings = recordings\n",
                "        self.key = len(_kept)\n        _kept.append(recordings)\n",
            ),
            (CLEAN, "        clean = _kept[self.key][index]\n"),
            (LENGTH, "        return len(_kept[self.key])\n"),
        ],
        check="test_spawned",
        says="anew",
    ),
    Wrong(
        "uniform noise",
        edits=[
            (
                READ,
                READ.replace("torch.randn(", "12**0.5 * (torch.rand(").replace(
                    "dtype=clean.dtype)", "dtype=clean.dtype) - 0.5)"
                ),
            )
        ],
        check="test_noise_is_normal",
        says="share beyond",
    ),
    Wrong(
        "one number for a whole recording",
        edits=[(READ, READ.replace("clean.shape,", "clean.shape[:-1] + (1,),"))],
        check="test_noise_is_normal",
    ),
    Wrong(
        "the noise's variance for its deviation",
        edits=[(READ, READ.replace("self.noise *", "self.noise**0.5 *"))],
        check="test_noise_is_normal",
        says="std",
    ),
    Wrong(
        "takes the default noise",
        edits=[("        self.noise = noise\n", "        self.noise = 0.1\n")],
        check="test_noise_is_normal",
    ),
    Wrong(
        "adds to the recordings",
        edits=[(READ, READ.replace("return clean +", "clean +=") + "        return clean\n")],
        check="test_reading",
        says="changes",
    ),
    Wrong(
        "the recording itself where there is no noise",
        edits=[(READ, "        if self.noise == 0:\n            return clean\n" + READ)],
        check="test_reading",
        says="view",
    ),
    Wrong(
        "half precision becomes float32",
        edits=[(READ, READ.replace(", dtype=clean.dtype", ""))],
        check="test_reading",
        says="dtype",
    ),
    Wrong(
        "goes round at the ends",
        edits=[(CLEAN, "        clean = self.recordings[index % len(self.recordings)]\n")],
        check="test_errors_reach_the_caller",
    ),
    Wrong(
        "an empty reading where an index is past the end",
        edits=[
            (
                CLEAN,
                "        try:\n            clean = self.recordings[index]\n        except IndexError:\n            clean = torch.zeros(self.recordings.shape[1:], dtype=self.recordings.dtype)\n",
            )
        ],
        check="test_errors_reach_the_caller",
    ),
    Wrong(
        "at least one recording",
        edits=[(LENGTH, "        return max(1, len(self.recordings))\n")],
        check="test_few_recordings",
    ),
    Wrong(
        "the start",
        edits=[
            (
                SEED,
                "        self.generator = torch.Generator().manual_seed(seed)\n",
            ),
            (BODY, "        return self.generator\n"),
        ],
        check="test_read_before_by_a_loader",
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
    Right(
        "torch's global seed, and not its stream",
        edits=[
            (
                STALE,
                "        worker_seed = torch.initial_seed()\n" + STALE,
            ),
            (PARTS, "            parts = [worker_seed % 2**63, self.seed]\n"),
            (", get_worker_info\n", ", get_worker_info  # noqa: F401\n"),
        ],
    ),
    Wrong(
        "a thousand streams for all",
        edits=[("manual_seed(int(mixed[0]))", "manual_seed(int(mixed[0]) % 1000)")],
        check="test_seeds",
        says="share noise",
    ),
    Wrong(
        "takes the last three digits of the seed",
        edits=[(SEED, "        self.seed = seed % 1000\n")],
        check="test_seeds",
        says="seeds 0 and 1000",
    ),
    Wrong(
        "the seed goes through float32",
        edits=[(SEED, "        self.seed = int(np.float32(seed))\n")],
        check="test_seeds",
        says="no noise of one seed under another",
    ),
    Wrong(
        "the process id keeps the main process apart from others, and runs from one another",
        edits=[
            *by_parts("[self.seed, os.getpid()] if worker_seed is None else [self.seed, worker_seed]"),
            ("import numpy as np\n", "import os\n\nimport numpy as np\n"),
        ],
        check="test_started_again",
        says="process id",
    ),
]
