"""Answers to nondeterminism that people write."""

from grader.authoring.specimen import Right, Works, Wrong

INDEX = "sorted(set(items))"
WITH = "    with _repeatable(seed):\n"
MODEL = "        model = make_model(len(words), len(classes))\n"
EPOCH = "        for _ in range(epochs):\n"
ORDER = "            order = torch.randperm(len(documents)).tolist()\n"
AUGMENT = "_counts([augment(documents[i]) for i in chosen], words)"
FORK = "    with torch.random.fork_rng():  # torch's streams, those of GPUs too\n"
PYTHON = "            random.seed(seed)\n"
NUMPY = "            np.random.seed(seed)\n"
TORCH = "            torch.manual_seed(seed)\n"
STRICT = "            torch.use_deterministic_algorithms(True)\n"
BENCHMARK = "            torch.backends.cudnn.benchmark = False\n"
YIELD = "            yield\n        finally:\n"
PYTHON_BACK = "            random.setstate(python)\n"
STRICT_BACK = "            torch.use_deterministic_algorithms(strict, warn_only=warn_only)\n"
BENCHMARK_BACK = "            torch.backends.cudnn.benchmark = benchmark\n"

WHOLE = """
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def build_index(items):
    return {item: number for number, item in enumerate(sorted(set(items)))}


def train(documents, labels, make_model, augment, *, seed, epochs=2, batch_size=4, lr=0.1):
%s
    words = build_index(word for document in documents for word in document)
    classes = build_index(labels)
    model = make_model(len(words), len(classes))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(epochs):
        order = %s
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            x = _counts([augment(documents[i]) for i in chosen], words)
            loss = F.cross_entropy(model(x), torch.tensor([classes[labels[i]] for i in chosen]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return model, losses


def _counts(documents, words):
    x = torch.zeros(len(documents), len(words))
    for row, document in zip(x, documents, strict=True):
        ids = torch.tensor([words[word] for word in document], dtype=torch.int64)
        row.index_add_(0, ids, torch.ones(len(ids)))
    return x
"""

SPECIMENS = [
    Wrong(
        "the order of a set",
        edits=[(INDEX, "set(items)")],
        rung="job",
        check="test_index_is_sorted",
        says="the letters from z to a",
    ),
    Wrong(
        "the shuffler of the module stays",
        edits=[
            ("def build_index(", "_shuffler = np.random.default_rng(0)\n\n\ndef build_index("),
            (ORDER, "            order = _shuffler.permutation(len(documents)).tolist()\n"),
        ],
        rung="job",
        check="test_order_repeats",
        says="lives longer than the call",
    ),
    Wrong(
        "a shuffler of a fixed seed",
        edits=[
            (WITH, "    shuffler = np.random.default_rng(0)\n" + WITH),
            (ORDER, "            order = shuffler.permutation(len(documents)).tolist()\n"),
        ],
        rung="job",
        check="test_other_seeds_give_other_runs",
        says="fixed seed",
    ),
    Wrong(
        "seeds in each epoch",
        edits=[
            (ORDER, "            random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)\n" + ORDER)
        ],
        rung="job",
        check="test_orders_of_epochs",
        says="in each epoch",
    ),
    Wrong(
        "does not shuffle",
        edits=[(ORDER, "            order = list(range(len(documents)))\n")],
        rung="job",
        check="test_orders_of_epochs",
        says="not shuffled",
    ),
    Wrong(
        "seeds before each augmentation",
        edits=[
            (AUGMENT, "_counts([(random.seed(seed + i), augment(documents[i]))[1] for i in chosen], words)")
        ],
        rung="job",
        check="test_augmented_anew",
        says="more than once",
    ),
    Wrong(
        "augments once, before the first epoch",
        edits=[
            (EPOCH, "        documents = [augment(document) for document in documents]\n" + EPOCH),
            (AUGMENT, "_counts([documents[i] for i in chosen], words)"),
        ],
        rung="job",
        check="test_augmented_anew",
    ),
    Wrong(
        "torch.manual_seed alone",
        edits=[(PYTHON, ""), (NUMPY, "")],
        rung="job",
        check="test_draws_repeat",
        says="np.random.seed(seed)",
    ),
    Wrong(
        "a fixed seed for NumPy",
        edits=[(NUMPY, "            np.random.seed(42)\n")],
        rung="job",
        check="test_other_seeds_give_other_runs",
        says="np.random",
    ),
    Wrong(
        "the model before the seed",
        edits=[(MODEL, ""), (WITH, "    model = make_model(len(words), len(classes))\n" + WITH)],
        rung="job",
        check="test_draws_repeat",
        says="too late",
    ),
    Wrong(
        "deterministic algorithms of cuDNN only",
        edits=[(STRICT, "            torch.backends.cudnn.deterministic = True\n")],
        rung="job",
        check="test_deterministic_algorithms",
        says="about cuDNN alone",
    ),
    Wrong(
        "benchmark stays on",
        edits=[(BENCHMARK, "")],
        rung="job",
        check="test_deterministic_algorithms",
        says="benchmark is on",
    ),
    Wrong(
        "each word once",
        edits=[("_counts([augment(documents[i])", "_counts([set(augment(documents[i]))")],
        rung="job",
        check="test_what_is_trained",
        says="counts once",
    ),
    Wrong(
        "leaves torch's stream where it is",
        edits=[(FORK, "    if True:\n")],
        check="test_streams_are_left_alone",
        says="torch",
    ),
    Wrong(
        "puts things back only if all goes well",
        edits=[
            (
                YIELD,
                "            yield\n        except ZeroDivisionError:\n            raise\n        else:\n",
            )
        ],
        check="test_errors",
        says="put back after an error",
    ),
    Wrong(
        "swallows errors",
        edits=[(YIELD, "            yield\n        except Exception:\n            pass\n        finally:\n")],
        check="test_errors",
        says="does not come out",
    ),
    Wrong(
        "deterministic algorithms that only warn",
        edits=[(STRICT, "            torch.use_deterministic_algorithms(True, warn_only=True)\n")],
        check="test_errors_not_warnings",
        says="only warns",
    ),
    Wrong(
        "switches deterministic algorithms off afterwards",
        edits=[(STRICT_BACK, "            torch.use_deterministic_algorithms(False)\n")],
        check="test_settings_are_put_back",
        says="after train",
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
        check="test_settings_are_put_back",
        says="PYTHONHASHSEED",
    ),
    Wrong(
        "switches the model to training mode",
        edits=[(MODEL, MODEL + "        model.train()\n")],
        check="test_model_and_arguments",
        says="modes",
    ),
    Works(
        "seeds everything at the start, as PyTorch's notes do",
        code=WHOLE
        % (
            """    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True)""",
            "np.random.permutation(len(documents)).tolist()",
        ),
    ),
    Works(
        "Lightning's seed_everything, a generator for the order, settings around the loop",
        code=WHOLE.replace(
            "    model = make", "    generator = torch.Generator().manual_seed(seed)\n    model = make"
        )
        % (
            """    import os

    os.environ["PL_GLOBAL_SEED"] = os.environ["PYTHONHASHSEED"] = str(seed)
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(1)""",
            "torch.randperm(len(documents), generator=generator).tolist()",
        ),
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
        "NumPy's order, augmented before they are put in order",
        edits=[
            (
                ORDER,
                "            augmented = [augment(document) for document in documents]\n            order = np.random.permutation(len(documents)).tolist()\n",
            ),
            (AUGMENT, "_counts([augmented[i] for i in chosen], words)"),
        ],
    ),
]
