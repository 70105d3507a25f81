"""Answers to resume_exactly that people write."""

from grader.authoring.specimen import Right, Wrong

ORDER = "            self.order, self.place = torch.randperm(self.size, generator=self.generator), 0\n"
ROWS = "        rows = self.order[self.place : self.place + self.batch].clone()\n"
STATE = '        return {"order": self.order.clone(), "place": self.place, "stream": self.generator.get_state()}\n'
LOAD = '        self.order, self.place = state["order"].clone(), state["place"]\n        self.generator.set_state(state["stream"])\n'
PYTHON = '    random.setstate(streams["python"])\n'
NUMPY = '    np.random.set_state(streams["numpy"])\n'
TORCH = '    torch.set_rng_state(streams["torch"])\n'
CUDA = '    if streams["cuda"] and torch.cuda.is_available():\n        torch.cuda.set_rng_state_all(streams["cuda"])\n'
STREAMS = '    streams = saved["random"]  # last: loading may draw\n'
LOOP = '    for name, thing in things.items():\n        thing.load_state_dict(saved["states"][name])\n'
SYNC = "            file.flush()\n            os.fsync(file.fileno())  # else a power cut may leave the new name on an empty file\n"
REPLACE = "        os.replace(name, path)  # noqa: PTH105\n"
MAKE = (
    "    number, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # a name of its own each time\n"
)
SAVE = '            torch.save({"step": step, "states": states, "random": _random_states()}, file)\n'
FAIL = "    except BaseException:\n        Path(name).unlink()\n        raise\n"
WRITE = MAKE + '    try:\n        with os.fdopen(number, "wb") as file:\n' + SAVE + SYNC + REPLACE + FAIL
NAMES = '    if saved["states"].keys() != things.keys():\n'

SPECIMENS = [
    Wrong(
        "the streams of CUDA devices are saved, and not set",
        edits=[(CUDA, "")],
        check="test_streams_of_cuda_devices",
        says="two CUDA devices",
    ),
    Wrong(
        "the stream of the first CUDA device alone",
        edits=[
            ("torch.cuda.get_rng_state_all()", "torch.cuda.get_rng_state()"),
            (
                CUDA,
                CUDA.replace("torch.cuda.set_rng_state_all", "torch.cuda.set_rng_state").replace(
                    'streams["cuda"] and ', ""
                ),
            ),
        ],
        check="test_streams_of_cuda_devices",
        says="two CUDA devices",
    ),
    Right(
        "the streams of CUDA devices one by one",
        edits=[
            (
                "torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []",
                "[torch.cuda.get_rng_state(i) for i in range(torch.cuda.device_count())]",
            ),
            (
                CUDA,
                '    for place, stream in enumerate(streams["cuda"][: torch.cuda.device_count()]):\n        torch.cuda.set_rng_state(stream, torch.device("cuda", place))\n',
            ),
        ],
    ),
    Wrong(
        "another state is loaded into the order that a snapshot holds",
        edits=[
            (STATE, STATE.replace('"order": self.order.clone()', '"order": self.order')),
            (
                LOAD,
                '        self.place = state["place"]\n        self.generator.set_state(state["stream"])\n        if len(self.order) == len(state["order"]):\n            self.order.copy_(state["order"])\n        else:\n            self.order = state["order"].clone()\n',
            ),
        ],
        check="test_sampler_goes_on",
        says="loads another's state",
    ),
    Wrong(
        "opens the folder by a name that is empty for a name alone",
        edits=[
            (
                REPLACE,
                REPLACE
                + "        number = os.open(os.path.dirname(path), os.O_RDONLY)\n        os.fsync(number)\n        os.close(number)\n",
            ),
            (FAIL, FAIL.replace("unlink()", "unlink(missing_ok=True)")),
        ],
        check="test_replaced_in_one_go",
        says="No such file",
    ),
    Wrong(
        "cleans up where writing fails, not where replacing does",
        edits=[
            (
                REPLACE + FAIL,
                FAIL + REPLACE.replace("        os", "    os"),
            )
        ],
        check="test_atomic",
        says="a folder is",
    ),
    Wrong(
        "things in the order of the checkpoint, whatever their names",
        edits=[
            (
                LOOP,
                '    for thing, state in zip(things.values(), saved["states"].values()):\n        thing.load_state_dict(state)\n',
            )
        ],
        check="test_other_names",
        says="another order",
    ),
    Wrong(
        "the step and the things in one dictionary",
        edits=[
            (SAVE, SAVE.replace('"states": states', "**states")),
            (
                NAMES,
                '    saved = {"states": {k: v for k, v in saved.items() if k not in ("step", "random")}, **saved}\n'
                + NAMES,
            ),
        ],
        check="test_other_names",
    ),
    Wrong(
        "pickled streams inside of a tensor",
        edits=[
            (
                '        "python": random.getstate(),\n',
                '        "python": torch.tensor(list(pickle.dumps(random.getstate())), dtype=torch.uint8),\n',
            ),
            (PYTHON, '    random.setstate(pickle.loads(bytes(streams["python"].tolist())))\n'),
            ("import os\n", "import os\nimport pickle\n"),
        ],
        check="test_strangers_files",
        says="once more",
    ),
    Wrong(
        "straight to the path where there is no old one",
        edits=[
            (
                MAKE,
                "    if not path.exists():\n        torch.save({'step': step, 'states': states, 'random': _random_states()}, path)\n"
                "        with open(path, 'rb+') as file:\n            os.fsync(file.fileno())\n        return\n"
                + MAKE,
            )
        ],
        check="test_atomic",
        says="first save",
    ),
    Wrong(
        "seeds the sampler with torch's own seed as well",
        edits=[
            (
                "torch.Generator().manual_seed(seed)",
                "torch.Generator().manual_seed(seed + torch.initial_seed())",
            )
        ],
        check="test_sampler_epochs",
    ),
    Wrong(
        "puts the folder of a relative path together by hand",
        edits=[
            ("    path = Path(path)\n", "    given, path = str(path), Path(path)\n"),
            (
                REPLACE,
                REPLACE.replace("path)", "os.path.dirname(given) + '/' + path.name)"),
            ),
        ],
        check="test_steps",
    ),
    Wrong(
        "clears away what others have left in the folder",
        edits=[(MAKE, '    for left in path.parent.glob("*.tmp"):\n        left.unlink()\n' + MAKE)],
        check="test_steps",
        says="files",
    ),
    Wrong(
        "writes to a name that ends in .pt",
        edits=[(REPLACE, REPLACE.replace("path)", 'path.with_suffix(".pt"))'))],
        check="test_steps",
    ),
    Wrong(
        "forgets the random streams",
        edits=[(PYTHON + NUMPY + TORCH, "")],
        check="test_killed_and_started_again",
    ),
    Wrong("forgets Python's stream", edits=[(PYTHON, "")], check="test_random_streams", says="random.gauss"),
    Wrong("forgets NumPy's stream", edits=[(NUMPY, "")], check="test_random_streams", says="np.random"),
    Wrong("forgets torch's stream", edits=[(TORCH, "")], check="test_random_streams", says="torch.rand"),
    Wrong(
        "forgets the second Gaussian that NumPy keeps",
        edits=[(NUMPY, '    np.random.set_state(streams["numpy"][:3])\n')],
        check="test_random_streams",
    ),
    Wrong(
        "saves a seed in place of the state",
        edits=[
            ('"torch": torch.get_rng_state()', '"torch": torch.initial_seed()'),
            (TORCH, '    torch.manual_seed(streams["torch"])\n'),
        ],
        check="test_random_streams",
    ),
    Wrong(
        "draws a new seed when it saves",
        edits=[(SAVE, "            torch.manual_seed(random.randrange(2**31))\n" + SAVE)],
        check="test_random_streams",
    ),
    Wrong(
        "streams first, then the things",
        edits=[
            (LOOP + STREAMS, STREAMS),
            ('    return int(saved["step"])\n', LOOP + '    return int(saved["step"])\n'),
        ],
        check="test_things_that_draw",
    ),
    Wrong(
        "returns the step after", edits=[('int(saved["step"])', 'int(saved["step"]) + 1')], check="test_steps"
    ),
    Wrong(
        "the step as a tensor",
        edits=[('return int(saved["step"])', 'return torch.tensor(saved["step"])')],
        check="test_steps",
    ),
    Wrong("forgets the step", edits=[('return int(saved["step"])', "return 0")], check="test_steps"),
    Wrong(
        "forgets the optimizer",
        edits=[(LOOP, LOOP.replace("        thing.", '        if name != "optimizer":\n            thing.'))],
        check="test_killed_and_started_again",
    ),
    Wrong(
        "forgets the schedule",
        edits=[(LOOP, LOOP.replace("        thing.", '        if name != "schedule":\n            thing.'))],
        check="test_killed_and_started_again",
    ),
    Wrong(
        "forgets the scaler",
        edits=[(LOOP, LOOP.replace("        thing.", '        if name != "scaler":\n            thing.'))],
        check="test_killed_and_started_again",
    ),
    Wrong(
        "saves parameters without buffers",
        edits=[
            (
                "name: thing.state_dict() for",
                "name: thing.state_dict() if not isinstance(thing, torch.nn.Module) else {**thing.state_dict(), **{k: torch.zeros_like(b) for k, b in thing.named_buffers()}} for",
            )
        ],
        check="test_killed_and_started_again",
    ),
    Wrong(
        "knows five names alone",
        edits=[
            (
                "in things.items()}",
                "in things.items() if name in ('model', 'optimizer', 'schedule', 'scaler', 'sampler')}",
            ),
            (NAMES, '    if "model" in saved["states"] and saved["states"].keys() != things.keys():\n'),
        ],
        check="test_steps",
    ),
    Wrong(
        "weights in half precision",
        edits=[
            (
                "name: thing.state_dict() for",
                "name: thing.state_dict() if not isinstance(thing, torch.nn.Module) else {k: v.half() if v.is_floating_point() else v for k, v in thing.state_dict().items()} for",
            )
        ],
        check="test_steps",
    ),
    Wrong(
        "keeps the checkpoint in memory",
        edits=[
            ("\n\nclass EpochSampler:", "\n\n_kept: dict = {}\n\n\nclass EpochSampler:"),
            (
                "    saved = torch.load(",
                "    if str(path) in _kept and Path(path).exists():\n        return _kept[str(path)]\n    saved = torch.load(",
            ),
            (
                '    return int(saved["step"])\n',
                '    _kept[str(path)] = int(saved["step"])\n    return int(saved["step"])\n',
            ),
        ],
        check="test_steps",
    ),
    Wrong(
        "a sampler that starts the epoch again",
        edits=[(LOAD, LOAD + "        self.place = 0\n")],
        check="test_sampler_goes_on",
    ),
    Wrong(
        "a sampler that starts a new epoch",
        edits=[(LOAD, LOAD + "        self.place = self.size\n")],
        check="test_sampler_goes_on",
    ),
    Wrong(
        "the stream is not part of the sampler's state",
        edits=[(LOAD, LOAD.replace('        self.generator.set_state(state["stream"])\n', ""))],
        check="test_sampler_goes_on",
    ),
    Wrong(
        "the order is not part of the sampler's state",
        edits=[
            (
                LOAD,
                LOAD.replace('state["order"].clone()', "torch.randperm(self.size, generator=self.generator)"),
            )
        ],
        check="test_sampler_goes_on",
    ),
    Wrong(
        "a state that moves with the sampler",
        edits=[
            (STATE, "        return self.__dict__\n"),
            (
                LOAD,
                '        self.order, self.place = state["order"], state["place"]\n        self.generator.set_state(state["generator"].get_state())\n',
            ),
        ],
        check="test_sampler_goes_on",
    ),
    Wrong(
        "shuffles with the global stream",
        edits=[(ORDER, ORDER.replace(", generator=self.generator", ""))],
        check="test_sampler_epochs",
    ),
    Wrong(
        "seeds the global stream",
        edits=[
            (
                "        self.size, self.batch = size, batch\n",
                "        self.size, self.batch = size, batch\n        torch.manual_seed(seed)\n",
            )
        ],
        check="test_sampler_epochs",
        says="global",
    ),
    Wrong(
        "the same order in each epoch",
        edits=[(ORDER, "            self.generator.manual_seed(self.generator.initial_seed())\n" + ORDER)],
        check="test_sampler_epochs",
        says="same order",
    ),
    Wrong(
        "does not shuffle",
        edits=[
            (
                ORDER,
                ORDER.replace(
                    "torch.randperm(self.size, generator=self.generator)", "torch.arange(self.size)"
                ),
            )
        ],
        check="test_sampler_epochs",
        says="same order",
    ),
    Wrong(
        "ignores the seed",
        edits=[("manual_seed(seed)", "manual_seed(0)")],
        check="test_sampler_epochs",
        says="other seeds",
    ),
    Wrong(
        "draws rows with repetition",
        edits=[(ORDER, ORDER.replace("torch.randperm(self.size,", "torch.randint(self.size, (self.size,),"))],
        check="test_sampler_epochs",
    ),
    Wrong(
        "drops the short batch",
        edits=[("if self.place >= len(self.order):", "if self.place + self.batch > len(self.order):")],
        check="test_sampler_epochs",
    ),
    Wrong(
        "ends after an epoch",
        edits=[
            (
                "        if self.place >= len(self.order):\n",
                "        if self.place >= len(self.order) > 0:\n            self.order = self.order[:0]\n            raise StopIteration\n        if self.place >= len(self.order):\n",
            )
        ],
        check="test_sampler_epochs",
    ),
    Wrong(
        "batches as lists",
        edits=[("        return rows\n", "        return rows.tolist()\n")],
        check="test_sampler_epochs",
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
        "removes the old one first",
        edits=[(MAKE, "    path.unlink(missing_ok=True)\n" + MAKE)],
        check="test_atomic",
    ),
    Wrong(
        "leaves the other file after an error",
        edits=[(FAIL, "    finally:\n        pass\n")],
        check="test_atomic",
        says="files in the folder",
    ),
    Wrong(
        "an error is swallowed",
        edits=[(FAIL, FAIL.replace("        raise\n", ""))],
        check="test_atomic",
    ),
    Wrong(
        "stumbles over what a killed process left",
        edits=[
            (
                MAKE,
                '    name = str(path) + ".part"\n    number = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)\n',
            )
        ],
        check="test_atomic",
    ),
    Wrong(
        "keeps the old one as a backup",
        edits=[
            (
                REPLACE,
                '        if path.exists():\n            os.replace(path, str(path) + ".old")\n' + REPLACE,
            )
        ],
        check="test_steps",
        says="files",
    ),
    Wrong(
        "does not see the file to the disk",
        edits=[(SYNC, "            file.flush()\n")],
        check="test_replaced_in_one_go",
    ),
    Wrong(
        "syncs an empty file",
        edits=[(SAVE + SYNC, SYNC.split("  #")[0] + "\n" + SAVE)],
        check="test_replaced_in_one_go",
        says="half",
    ),
    Wrong(
        "copies it over the old one",
        edits=[(REPLACE, "        path.write_bytes(Path(name).read_bytes())\n        Path(name).unlink()\n")],
        check="test_replaced_in_one_go",
    ),
    Wrong(
        "the other file lies in the folder for temporary files",
        edits=[
            (MAKE, "    number, name = tempfile.mkstemp()\n"),
            (REPLACE, "        import shutil\n\n        shutil.move(name, path)\n"),
        ],
        check="test_replaced_in_one_go",
    ),
    Wrong(
        "loads whatever pickle holds",
        edits=[("weights_only=True)", "weights_only=False)")],
        check="test_strangers_files",
    ),
    Wrong(
        "another error for a hostile file",
        edits=[
            (
                '    saved = torch.load(path, map_location="cpu", weights_only=True)\n',
                '    if not Path(path).exists():\n        raise FileNotFoundError(path)\n    try:\n        saved = torch.load(path, map_location="cpu", weights_only=True)\n    except Exception as error:\n        raise RuntimeError("bad file") from error\n',
            )
        ],
        check="test_strangers_files",
    ),
    Wrong(
        "starts anew where there is no file",
        edits=[
            (
                "    saved = torch.load(",
                "    if not Path(path).exists():\n        return 0\n    saved = torch.load(",
            )
        ],
        check="test_other_names",
    ),
    Wrong(
        "loads what it finds",
        edits=[(NAMES, '    if not things.keys() <= saved["states"].keys():\n')],
        check="test_other_names",
    ),
    Wrong(
        "loads what is there, then raises",
        edits=[
            (
                NAMES
                + "        raise KeyError(f\"the checkpoint holds {sorted(saved['states'])}, not {sorted(things)}\")\n",
                '    if len(things) < len(saved["states"]):\n        raise KeyError\n',
            )
        ],
        check="test_other_names",
    ),
    Wrong(
        "ValueError for other names",
        edits=[("raise KeyError(", "raise ValueError(")],
        check="test_other_names",
    ),
    Right(
        "writes in a folder of its own inside of the folder",
        edits=[
            (
                WRITE,
                """    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        name = Path(folder, "new")
        with name.open("wb") as file:
"""
                + SAVE
                + SYNC
                + REPLACE,
            )
        ],
    ),
    Right(
        "a fixed name beside it, bytes, and safe globals' alternatives",
        edits=[
            (
                WRITE,
                """    import io

    buffer = io.BytesIO()
    torch.save([int(step), states, _random_states()], buffer)
    beside = path.with_name(path.name + ".tmp")
    try:
        with beside.open("wb", buffering=0) as file:
            file.write(buffer.getvalue())
            os.fsync(file)
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
    Wrong(
        "clears up after errors, not after an interrupt",
        edits=[(FAIL, FAIL.replace("BaseException", "Exception"))],
        check="test_atomic",
        says="files in the folder",
    ),
    Wrong(
        "the new file is there before the states are asked for",
        edits=[
            ("    states = {name: thing.state_dict() for name, thing in things.items()}\n", ""),
            (
                "    try:\n        with os.fdopen",
                "    states = {name: thing.state_dict() for name, thing in things.items()}\n    try:\n        with os.fdopen",
            ),
        ],
        check="test_atomic",
        says="state_dict() raises",
    ),
    Wrong(
        "the new file is in the working folder where path is a str",
        edits=[
            (
                "    path = Path(path)\n    states",
                "    folder = path.parent if isinstance(path, Path) else Path.cwd()\n    path = Path(path)\n    states",
            ),
            ("dir=path.parent", "dir=folder"),
        ],
        check="test_replaced_in_one_go",
    ),
    Wrong(
        "the step in 32 bits",
        edits=[('{"step": step,', '{"step": torch.tensor(step % 2**31, dtype=torch.int32),')],
        check="test_steps",
    ),
    Wrong(
        "a sampler that was loaded tells the start of the epoch that it was in before",
        edits=[
            (
                "        self.order, self.place = torch.empty(0, dtype=torch.int64), 0\n",
                "        self.order, self.place = torch.empty(0, dtype=torch.int64), 0\n        self.start = self.generator.get_state()\n",
            ),
            (
                "        if self.place >= len(self.order):\n",
                "        if self.place >= len(self.order):\n            self.start = self.generator.get_state()\n",
            ),
            (
                '        return {"order": self.order.clone(), "place": self.place, "stream": self.generator.get_state()}\n',
                '        return {"place": self.place, "stream": self.start}\n',
            ),
            (
                '        self.order, self.place = state["order"].clone(), state["place"]\n        self.generator.set_state(state["stream"])\n',
                '        self.generator.set_state(state["stream"])\n        self.order, self.place = torch.empty(0, dtype=torch.int64), state["place"]\n        if self.place:\n            self.order = torch.randperm(self.size, generator=self.generator)\n',
            ),
        ],
        check="test_sampler_goes_on",
        says="again after one more",
    ),
    Wrong(
        "the other file has one name, and must be new",
        edits=[
            (
                "    number, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # a name of its own each time\n",
                '    name = str(path) + ".new"\n    number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)\n',
            ),
        ],
        check="test_replaced_in_one_go",
        says="FileExistsError",
    ),
    Wrong(
        "opens the file once more for fsync, and leaves it open",
        edits=[
            (
                '        with os.fdopen(number, "wb") as file:\n' + SAVE + SYNC,
                "        os.close(number)\n"
                + SAVE.replace("    torch", "torch").replace(", file)", ", name)")
                + "        os.fsync(os.open(name, os.O_RDONLY))\n",
            )
        ],
        check="test_replaced_in_one_go",
        says="leaves a file open",
    ),
    Wrong(
        "the other file ends in .tmp, as the checkpoint may",
        edits=[
            (
                MAKE,
                '    name = path.with_suffix(".tmp")\n    number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n',
            )
        ],
        check="test_replaced_in_one_go",
        says="the old file is changed",
    ),
    Wrong(
        "sets a stream before it looks at the names",
        edits=[(NAMES, '    random.setstate(saved["random"]["python"])\n' + NAMES)],
        check="test_other_names",
        says="stream of Python",
    ),
    Wrong(
        "opens the file a second time to see it to the disk",
        edits=[(SYNC, "            file.flush()\n            os.fsync(os.open(name, os.O_RDONLY))\n")],
        check="test_replaced_in_one_go",
        says="leaves a file open",
    ),
    Wrong(
        "closes what it has opened only where all went well",
        edits=[
            (
                WRITE,
                MAKE
                + "    try:\n"
                + SAVE.replace("            torch.save(", "        torch.save(").replace(", file)", ", name)")
                + "        os.fsync(number)\n        os.close(number)\n"
                + REPLACE
                + FAIL,
            )
        ],
        check="test_atomic",
        says="where it raises",
    ),
]
