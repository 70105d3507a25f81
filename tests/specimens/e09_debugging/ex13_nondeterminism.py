"""Answers to nondeterminism that people write."""

from grader.authoring.specimen import Right, Wrong

INDEX = "sorted(set(items))"
WITH = "    with _repeatable(seed):\n"
MODEL = "        model = make_model(len(words), len(classes))\n"
EPOCH = "        for _ in range(epochs):\n"
ORDER = "            order = torch.randperm(len(documents)).tolist()\n"
AUGMENT = "_counts([augment(documents[i]) for i in chosen], words)"
STATES = "    python, numpy, benchmark = random.getstate(), np.random.get_state(), torch.backends.cudnn.benchmark\n"
FORK = "    with torch.random.fork_rng():  # torch's streams, those of GPUs too\n"
PYTHON = "            random.seed(seed)\n"
NUMPY = "            np.random.seed(seed)\n"
TORCH = "            torch.manual_seed(seed)\n"
STRICT = "            torch.use_deterministic_algorithms(True)\n"
BENCHMARK = "            torch.backends.cudnn.benchmark = False\n"
YIELD = "            yield\n        finally:\n"
PYTHON_BACK = "            random.setstate(python)\n"
NUMPY_BACK = "            np.random.set_state(numpy)\n"
STRICT_BACK = "            torch.use_deterministic_algorithms(strict, warn_only=warn_only)\n"
BENCHMARK_BACK = "            torch.backends.cudnn.benchmark = benchmark\n"
TRY = "        try:\n"
DEF = "@contextmanager\n"

SPECIMENS = [
    Wrong(
        "leaves out batches without words",
        edits=[(AUGMENT, AUGMENT + "\n                if not x.any():\n                    continue")],
        check="test_what_is_trained",
        says="without words",
    ),
    Wrong(
        "another learning rate by default",
        edits=[("    lr: float = 0.1,\n", "    lr: float = 0.01,\n")],
        check="test_what_is_trained",
        says="default arguments",
    ),
    Wrong(
        "leaves the workspace of cuBLAS in the environment",
        edits=[
            (
                STRICT,
                STRICT
                + '            __import__("os").environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")\n',
            )
        ],
        check="test_other_settings",
        says="CUBLAS_WORKSPACE_CONFIG",
    ),
    Wrong(
        "leaves the precision of matrix products at its highest",
        edits=[
            (
                "            torch.backends.cudnn.benchmark = False\n",
                "            torch.backends.cudnn.benchmark = False\n"
                '            torch.set_float32_matmul_precision("highest")\n',
            )
        ],
        check="test_other_settings",
        says="matmul_precision",
    ),
    Wrong(
        "seeds with the hash of a string",
        edits=[(PYTHON, PYTHON.replace("seed(seed)", 'seed(hash(f"run {seed}"))'))],
        check="test_runs_repeat",
    ),
    Wrong(
        "one thread, and not put back after an error",
        edits=[
            (
                PYTHON,
                PYTHON
                + "            threads = torch.get_num_threads()\n            torch.set_num_threads(1)\n",
            ),
            (YIELD, YIELD.replace("yield\n", "yield\n            torch.set_num_threads(threads)\n")),
        ],
        check="test_errors",
        says="threads",
    ),
    Wrong(
        "words in the order of a set",
        edits=[(INDEX, "set(items)")],
        check="test_index",
    ),
    Wrong(
        "words in the order in which they come",
        edits=[(INDEX, "dict.fromkeys(items)")],
        check="test_index",
    ),
    Wrong(
        "sorts, and keeps doubles",
        edits=[(INDEX, "sorted(items)")],
        check="test_index",
    ),
    Wrong(
        "sorts without regard to case",
        edits=[(INDEX, "sorted(set(items), key=str.lower)")],
        check="test_index",
    ),
    Wrong(
        "a shuffler that is seeded on import",
        edits=[
            ("def build_index(", "_shuffler = np.random.default_rng(0)\n\n\ndef build_index("),
            (ORDER, "            order = _shuffler.permutation(len(documents)).tolist()\n"),
        ],
        check="test_runs_repeat",
    ),
    Wrong(
        "a shuffler of a fixed seed",
        edits=[
            (WITH, "    shuffler = np.random.default_rng(0)\n" + WITH),
            (ORDER, "            order = shuffler.permutation(len(documents)).tolist()\n"),
        ],
        check="test_other_seeds_give_other_runs",
        says="order",
    ),
    Wrong(
        "a shuffler without a seed",
        edits=[(ORDER, "            order = np.random.default_rng().permutation(len(documents)).tolist()\n")],
        check="test_runs_repeat",
    ),
    Wrong(
        "does not shuffle",
        edits=[(ORDER, "            order = list(range(len(documents)))\n")],
        check="test_each_epoch_has_its_own_order",
        says="shuffled",
    ),
    Wrong(
        "one order for all epochs",
        edits=[
            (ORDER, ""),
            (EPOCH, "        order = torch.randperm(len(documents)).tolist()\n" + EPOCH),
        ],
        check="test_each_epoch_has_its_own_order",
        says="same order",
    ),
    Wrong(
        "seeds in each epoch: the same order, the same augmentation",
        edits=[
            (ORDER, "            random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)\n" + ORDER),
        ],
        check="test_each_epoch_has_its_own_order",
    ),
    Wrong(
        "an order from a generator that is made anew in each epoch",
        edits=[
            (
                ORDER,
                "            order = torch.randperm(len(documents), generator=torch.Generator().manual_seed(seed)).tolist()\n",
            )
        ],
        check="test_each_epoch_has_its_own_order",
        says="same order",
    ),
    Wrong(
        "seeds before each augmentation",
        edits=[
            (AUGMENT, "_counts([(random.seed(seed + i), augment(documents[i]))[1] for i in chosen], words)")
        ],
        check="test_each_epoch_has_its_own_order",
        says="again",
    ),
    Wrong(
        "augments once, before the first epoch",
        edits=[
            (EPOCH, "        documents = [augment(document) for document in documents]\n" + EPOCH),
            (AUGMENT, "_counts([documents[i] for i in chosen], words)"),
        ],
        check="test_each_epoch_has_its_own_order",
        says="calls of augment",
    ),
    Wrong(
        "draws with replacement",
        edits=[(ORDER, "            order = torch.randint(len(documents), (len(documents),)).tolist()\n")],
        check="test_each_epoch_has_its_own_order",
    ),
    Wrong(
        "drops the last small batch",
        edits=[("range(0, len(order), batch_size)", "range(0, len(order) - batch_size + 1, batch_size)")],
        check="test_each_epoch_has_its_own_order",
    ),
    Wrong("forgets Python's stream", edits=[(PYTHON, "")], check="test_runs_repeat"),
    Wrong("forgets NumPy's stream", edits=[(NUMPY, "")], check="test_runs_repeat"),
    Wrong("forgets torch's stream", edits=[(TORCH, "")], check="test_runs_repeat"),
    Wrong(
        "a fixed seed for Python",
        edits=[(PYTHON, "            random.seed(0)\n")],
        check="test_other_seeds_give_other_runs",
    ),
    Wrong(
        "a fixed seed for NumPy",
        edits=[(NUMPY, "            np.random.seed(42)\n")],
        check="test_other_seeds_give_other_runs",
    ),
    Wrong(
        "a fixed seed for torch",
        edits=[(TORCH, "            torch.manual_seed(0)\n")],
        check="test_other_seeds_give_other_runs",
    ),
    Wrong(
        "no seed where the seed is 0",
        edits=[(TORCH, "            if seed:\n                torch.manual_seed(seed)\n")],
        check="test_runs_repeat",
    ),
    Wrong(
        "the model before the seed",
        edits=[
            (MODEL, ""),
            (WITH, "    model = make_model(len(words), len(classes))\n" + WITH),
        ],
        check="test_runs_repeat",
    ),
    Wrong(
        "the model before the block, with a seed of its own",
        edits=[
            (MODEL, ""),
            (
                WITH,
                "    with torch.random.fork_rng():\n        torch.manual_seed(seed)\n        model = make_model(len(words), len(classes))\n"
                + WITH,
            ),
        ],
        check="test_deterministic_algorithms",
        says="make_model",
    ),
    Wrong(
        "leaves torch's stream where it is",
        edits=[(FORK, "    if True:\n")],
        check="test_streams_are_left_alone",
        says="torch",
    ),
    Wrong(
        "leaves Python's stream where it is",
        edits=[(PYTHON_BACK, "")],
        check="test_streams_are_left_alone",
        says="random",
    ),
    Wrong(
        "leaves NumPy's stream where it is",
        edits=[(NUMPY_BACK, "")],
        check="test_streams_are_left_alone",
        says="np.random",
    ),
    Wrong(
        "seeds the streams anew afterwards",
        edits=[(NUMPY_BACK, "            np.random.seed()\n")],
        check="test_streams_are_left_alone",
    ),
    Wrong(
        "keeps NumPy's numbers, not the normal one that waits",
        edits=[(NUMPY_BACK, "            np.random.set_state(numpy[:3])\n")],
        check="test_streams_are_left_alone",
    ),
    Wrong(
        "puts things back only if all goes well",
        edits=[
            (
                YIELD,
                YIELD.replace(
                    "        finally:\n",
                    "        except ZeroDivisionError:\n            raise\n        else:\n",
                ),
            )
        ],
        check="test_errors",
    ),
    Wrong(
        "puts the settings back only if all goes well",
        edits=[
            (STRICT_BACK, ""),
            (BENCHMARK_BACK, ""),
            (
                YIELD,
                "            yield\n            torch.use_deterministic_algorithms(strict, warn_only=warn_only)\n            torch.backends.cudnn.benchmark = benchmark\n        finally:\n",
            ),
        ],
        check="test_errors",
        says="settings",
    ),
    Wrong(
        "swallows errors",
        edits=[
            (
                YIELD,
                YIELD.replace(
                    "        finally:\n", "        except Exception:\n            pass\n        finally:\n"
                ),
            )
        ],
        check="test_errors",
        says="error",
    ),
    Wrong(
        "no deterministic algorithms",
        edits=[(STRICT, "")],
        check="test_deterministic_algorithms",
        says="off",
    ),
    Wrong(
        "deterministic algorithms that only warn",
        edits=[(STRICT, "            torch.use_deterministic_algorithms(True, warn_only=True)\n")],
        check="test_deterministic_algorithms",
        says="warn",
    ),
    Wrong(
        "deterministic algorithms of cuDNN only",
        edits=[(STRICT, "            torch.backends.cudnn.deterministic = True\n")],
        check="test_deterministic_algorithms",
    ),
    Wrong(
        "leaves deterministic algorithms on",
        edits=[(STRICT_BACK, "")],
        check="test_deterministic_algorithms",
        says="after",
    ),
    Wrong(
        "switches deterministic algorithms off afterwards",
        edits=[(STRICT_BACK, "            torch.use_deterministic_algorithms(False)\n")],
        check="test_deterministic_algorithms",
        says="after",
    ),
    Wrong(
        "forgets that the caller's only warned",
        edits=[(STRICT_BACK, "            torch.use_deterministic_algorithms(strict)\n")],
        check="test_deterministic_algorithms",
        says="after",
    ),
    Wrong(
        "benchmark stays on",
        edits=[(BENCHMARK, "")],
        check="test_deterministic_algorithms",
        says="benchmark",
    ),
    Wrong(
        "benchmark is on afterwards",
        edits=[(BENCHMARK_BACK, "            torch.backends.cudnn.benchmark = True\n")],
        check="test_deterministic_algorithms",
        says="after",
    ),
    Wrong(
        "deterministic in the forward alone",
        edits=[
            (STRICT, ""),
            (
                "                loss = F.cross_entropy(model(x), torch",
                "                torch.use_deterministic_algorithms(True)\n                logits = model(x)\n                torch.use_deterministic_algorithms(False)\n                loss = F.cross_entropy(logits, torch",
            ),
        ],
        check="test_deterministic_algorithms",
    ),
    Wrong(
        "remembers runs by their seed",
        edits=[
            ("def build_index(", "_runs = {}\n\n\ndef build_index("),
            (WITH, "    if seed in _runs:\n        return _runs[seed]\n" + WITH),
            ("    return model, losses\n", "    _runs[seed] = model, losses\n    return model, losses\n"),
        ],
        check="test_what_is_trained",
    ),
    Wrong(
        "switches the model to training mode",
        edits=[(MODEL, MODEL + "        model.train()\n")],
        check="test_what_is_trained",
        says="modes",
    ),
    Wrong(
        "cudnn.deterministic for good",
        edits=[(BENCHMARK, BENCHMARK + "            torch.backends.cudnn.deterministic = True\n")],
        check="test_other_settings",
        says="cudnn.deterministic",
    ),
    Wrong(
        "one thread for good",
        edits=[(BENCHMARK, BENCHMARK + "            torch.set_num_threads(1)\n")],
        check="test_other_settings",
        says="threads",
    ),
    Wrong(
        "environment variables for good",
        edits=[
            (
                BENCHMARK,
                BENCHMARK
                + '            import os\n\n            os.environ["PYTHONHASHSEED"] = str(seed)\n            os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n',
            )
        ],
        check="test_other_settings",
        says="PYTHONHASHSEED",
    ),
    Wrong(
        "trains on sums",
        edits=[
            (
                "for i in chosen]))\n                optimizer",
                "for i in chosen]), reduction='sum')\n                optimizer",
            )
        ],
        check="test_what_is_trained",
    ),
    Wrong(
        "each word once",
        edits=[("_counts([augment(documents[i])", "_counts([set(augment(documents[i]))")],
        check="test_what_is_trained",
    ),
    Wrong(
        "the default learning rate",
        edits=[("lr=lr)", "lr=0.1)")],
        check="test_what_is_trained",
    ),
    Wrong(
        "sorts the caller's documents",
        edits=[(WITH, "    documents.sort()\n" + WITH)],
        check="test_what_is_trained",
    ),
    Wrong(
        "a copy of the model",
        edits=[
            (
                MODEL,
                "        import copy\n\n        model = copy.deepcopy(make_model(len(words), len(classes)))\n",
            ),
        ],
        check="test_what_is_trained",
        says="make_model",
    ),
    Right(
        "states by hand, a generator for the order, ExitStack",
        edits=[
            ("import random\n", "import random\nfrom contextlib import ExitStack\n"),
            (
                WITH,
                """    with ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        stack.callback(np.random.set_state, np.random.get_state())
        stack.callback(torch.set_rng_state, torch.get_rng_state())
        stack.callback(torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode())
        stack.callback(setattr, torch.backends.cudnn, "benchmark", torch.backends.cudnn.benchmark)
        torch.backends.cudnn.benchmark = False
        torch.set_deterministic_debug_mode("error")
        shuffler = random.Random(seed)
        random.seed(f"python {seed}"), np.random.seed([seed, 1]), torch.manual_seed(seed + 2)
""",
            ),
            (ORDER, "            order = list(range(len(documents)))\n            shuffler.shuffle(order)\n"),
            (INDEX, "sorted(dict.fromkeys(items))"),
        ],
    ),
    Right(
        "one stream for the order and all, batches by split, augmented before they are put in order",
        edits=[
            (
                ORDER,
                "            augmented = [augment(document) for document in documents]\n            order = np.random.permutation(len(documents)).tolist()\n",
            ),
            (AUGMENT, "_counts([augmented[i] for i in chosen], words)"),
        ],
    ),
    Wrong(
        "augments anew, and goes on with what came first",
        edits=[
            (MODEL, MODEL + "        first = {}\n"),
            (AUGMENT, "_counts([first.setdefault(i, augment(documents[i])) for i in chosen], words)"),
        ],
        check="test_each_epoch_has_its_own_order",
        says="no words at all",
    ),
    Wrong(
        "an untrained model comes out early, and nothing is put back",
        edits=[
            (
                WITH,
                "    if epochs == 0:\n        random.seed(seed)\n        np.random.seed(seed)\n"
                "        torch.manual_seed(seed)\n        return make_model(len(words), len(classes)), []\n"
                + WITH,
            )
        ],
        check="test_streams_are_left_alone",
        says="epochs=0",
    ),
    Wrong(
        "divides the loss of the last, smaller batch by batch_size",
        edits=[
            (
                "torch.tensor([classes[labels[i]] for i in chosen]))",
                "torch.tensor([classes[labels[i]] for i in chosen]), reduction='sum')\n"
                "                loss = loss / min(batch_size, len(documents))",
            )
        ],
        check="test_what_is_trained",
        says="batches of 4 and 3",
    ),
    Wrong(
        "thaws what make_model has frozen",
        edits=[(MODEL, MODEL + "        model.requires_grad_(True)\n")],
        check="test_what_is_trained",
        says="frozen",
    ),
]
