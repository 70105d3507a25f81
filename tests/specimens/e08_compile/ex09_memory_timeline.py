"""Answers to memory_timeline that people write."""

from grader.authoring.specimen import Right, Wrong

ROW = "        self.rows.append(Phase(name, self._peak, self._live))\n"
RESET = "        self._peak = self._live\n\n"
SIZE = "            self._follow(storage, storage.nbytes())\n"
BEFORE = """        for storage in _storages((args, kwargs)):
            self._follow(storage, 0)  # was there before the operation, so before the block
"""
KEY = "        address = storage._cdata\n"
FINALIZE = "            weakref.finalize(storage, self._forget, address, size)\n"
FORGET = "        self.known.discard(address)  # another one may be made at the same address\n"
LEAVES = (
    "    return (leaf.untyped_storage() for leaf in tree_leaves(data) if isinstance(leaf, torch.Tensor))\n"
)
BODY = """    timeline = Timeline()
    with _Follow(timeline):
        yield timeline
"""
RUN = "        result = func(*args, **(kwargs or {}))\n"
RESULT = """        for storage in _storages(result):
            self._follow(storage, storage.nbytes())
"""

BY_TENSOR = """        for x in tree_leaves(result):
            if isinstance(x, torch.Tensor):
                self.timeline._made(x.numel() * x.element_size())
                weakref.finalize(x, self.timeline._freed, x.numel() * x.element_size())
"""
BY_GARBAGE = """
import gc
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode


@dataclass
class Phase:
    name: str
    peak: int
    live: int


def _alive():
    found = {}
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor):
            found[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
    return sum(found.values())


class Timeline:
    def __init__(self):
        self.rows, self.peak, self.base = [], 0, _alive()

    def look(self):
        live = _alive() - self.base
        self.peak = max(self.peak, live)
        return live

    def mark(self, name):
        live = self.look()
        self.rows.append(Phase(name, self.peak, live))
        self.peak = live


class _Mode(TorchDispatchMode):
    def __init__(self, timeline):
        super().__init__()
        self.timeline = timeline

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.timeline.look()
        return result


@contextmanager
def memory_timeline():
    timeline = Timeline()
    with _Mode(timeline):
        yield timeline
"""
BY_PROFILER = """
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile, record_function


@dataclass
class Phase:
    name: str
    peak: int
    live: int


class Timeline:
    def __init__(self):
        self.rows, self.names = [], []

    def mark(self, name):
        with record_function(f"mark {len(self.names)}"):
            self.names.append(name)


def _flat(events):
    for event in events:
        yield event
        yield from _flat(event.children)


@contextmanager
def memory_timeline():
    timeline = Timeline()
    profiler = profile(activities=[ProfilerActivity.CPU], profile_memory=True)
    try:
        with profiler:
            yield timeline
    finally:
        names = timeline.names
        tree = profiler.profiler.kineto_results.experimental_event_tree()
        own, live, peak = {}, 0, 0
        for event in sorted(_flat(tree), key=lambda event: event.start_time_ns):
            kind, fields = event.typed
            if kind == _EventType.Allocation:
                if fields.alloc_size > 0:
                    own[fields.ptr] = fields.alloc_size
                    live += fields.alloc_size
                else:
                    live -= own.pop(fields.ptr, 0)
                peak = max(peak, live)
            elif event.name.startswith("mark "):
                timeline.rows.append(Phase(names[int(event.name.split()[1])], peak, live))
                peak = live
"""

SPECIMENS = [
    Wrong(
        "one peak for all phases",
        edits=[(RESET, "\n")],
        check="test_phases",
    ),
    Wrong("each phase begins at nothing", edits=[(RESET, "        self._peak = 0\n\n")], check="test_phases"),
    Wrong(
        "each phase counts on its own",
        edits=[(RESET, "        self._live = self._peak = 0\n\n")],
        check="test_phases",
    ),
    Wrong(
        "the peak in live",
        edits=[("Phase(name, self._peak, self._live)", "Phase(name, self._peak, self._peak)")],
        check="test_phases",
    ),
    Wrong(
        "the peak above what was alive",
        edits=[
            ("        self._live = self._peak = 0\n", "        self._live = self._peak = self._start = 0\n"),
            (ROW, ROW.replace("self._peak", "self._peak - self._start")),
            (RESET, "        self._peak = self._start = self._live\n\n"),
        ],
        check="test_phases",
    ),
    Wrong(
        "one row for each name",
        edits=[(ROW, "        self.rows = [row for row in self.rows if row.name != name]\n" + ROW)],
        check="test_phases",
    ),
    Wrong(
        "a row for the rest of the block",
        edits=[("        yield timeline\n", '        yield timeline\n    timeline.mark("rest")\n')],
        check="test_phases",
    ),
    Wrong(
        "counts what is made, and never what is freed",
        edits=[(FINALIZE, "")],
        check="test_phases",
    ),
    Wrong(
        "numbers instead of bytes",
        edits=[(SIZE, "            self._follow(storage, storage.nbytes() // 4)\n")],
        check="test_phases",
    ),
    Wrong(
        "four bytes for each number",
        edits=[
            (
                RESULT,
                "        for x in tree_leaves(result):\n            if isinstance(x, torch.Tensor):\n                self._follow(x.untyped_storage(), x.untyped_storage().nbytes() // x.element_size() * 4)\n",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "kilobytes",
        edits=[
            (ROW, ROW.replace("self._peak", "self._peak // 1024").replace("self._live", "self._live // 1024"))
        ],
        check="test_phases",
    ),
    Wrong("floats", edits=[(ROW, ROW.replace("self._peak", "float(self._peak)"))], check="test_phases"),
    Wrong("counts every tensor", edits=[(RESULT, BY_TENSOR)], check="test_views"),
    Wrong(
        "the size of the tensor, not of its memory",
        edits=[
            (
                RESULT,
                "        for x in tree_leaves(result):\n            if isinstance(x, torch.Tensor):\n                self._follow(x.untyped_storage(), x.numel() * x.element_size())\n",
            ),
            (BEFORE, ""),
            ("if address not in self.known:", "if address not in self.known and size:"),
        ],
        check="test_memory_from_before",
    ),
    Wrong(
        "the size of the tensor that is made with it",
        edits=[
            (
                RESULT,
                "        for x in tree_leaves(result):\n            if isinstance(x, torch.Tensor):\n                self._follow(x.untyped_storage(), x.numel() * x.element_size())\n",
            ),
        ],
        check="test_all_bytes",
    ),
    Wrong(
        "looks at arguments without names only",
        edits=[(BEFORE, BEFORE.replace("(args, kwargs)", "args"))],
        check="test_operations_that_write",
        says="out=",
    ),
    Wrong(
        "expects nothing new from an operation that writes",
        edits=[(RUN, RUN + "        if func._schema.is_mutable:\n            return result\n")],
        check="test_operations_that_write",
        says="noisy",
    ),
    Wrong(
        "the end of the block in the last row",
        edits=[
            (
                BODY,
                BODY + "    for row in timeline.rows[-1:]:\n        row.live = timeline._live\n",
            )
        ],
        check="test_phases",
    ),
    Wrong(
        "follows the tensor, not its memory",
        edits=[
            (
                RESULT,
                "        for x in tree_leaves(result):\n            if isinstance(x, torch.Tensor):\n                self._follow(x.untyped_storage(), x.untyped_storage().nbytes(), x)\n",
            ),
            (
                "    def _follow(self, storage: torch.UntypedStorage, size: int) -> None:",
                "    def _follow(self, storage: torch.UntypedStorage, size: int, owner: Any = None) -> None:",
            ),
            (FINALIZE, FINALIZE.replace("(storage,", "(storage if owner is None else owner,")),
        ],
        check="test_graph",
    ),
    Wrong(
        "counts inputs too",
        edits=[(BEFORE, BEFORE.replace("storage, 0)", "storage, storage.nbytes())"))],
        check="test_memory_from_before",
    ),
    Wrong(
        "takes views of inputs for new memory",
        edits=[(BEFORE, "")],
        check="test_memory_from_before",
    ),
    Wrong(
        "frees what was there before",
        edits=[
            (BEFORE, BEFORE.replace("self._follow(storage, 0)", "self._from_before(storage)")),
            (
                "    def _follow(",
                "    def _from_before(self, storage):\n        if storage._cdata not in self.known:\n            self.known.add(storage._cdata)\n            weakref.finalize(storage, self._forget, storage._cdata, storage.nbytes())\n\n    def _follow(",
            ),
        ],
        check="test_memory_from_before",
    ),
    Wrong(
        "never forgets an address",
        edits=[(FORGET, "")],
        check="test_addresses_come_back",
    ),
    Wrong(
        "never forgets the addresses of inputs",
        edits=[(FORGET, "        if size:\n            self.known.discard(address)\n")],
        check="test_addresses_come_back",
    ),
    Wrong(
        "knows memory by its first byte",
        edits=[(KEY, "        address = storage.data_ptr()\n"), (FORGET, "")],
        check="test_addresses_come_back",
    ),
    Wrong(
        "single tensors only",
        edits=[(LEAVES, "    return (x.untyped_storage() for x in [data] if isinstance(x, torch.Tensor))\n")],
        check="test_several_results",
    ),
    Wrong(
        "tuples, but no lists",
        edits=[
            (
                LEAVES,
                "    data = data if isinstance(data, tuple) else (data,)\n    return (x.untyped_storage() for x in data if isinstance(x, torch.Tensor))\n",
            ),
            ("_storages((args, kwargs))", "_storages(tuple(tree_leaves((args, kwargs))))"),
        ],
        check="test_several_results",
    ),
    Wrong(
        "the first result only",
        edits=[("_storages(result)", "_storages(tree_leaves(result)[:1])")],
        check="test_several_results",
    ),
    Wrong(
        "results that can be differentiated",
        edits=[
            (
                "        for storage in _storages(result):\n",
                "        floats = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor) and x.is_floating_point()]\n        for storage in _storages(floats):\n",
            )
        ],
        check="test_several_results",
    ),
    Wrong(
        "keeps the storages",
        edits=[
            (
                "        self.known: set[int] = set()",
                "        self.kept: list[Any] = []\n        self.known: set[int] = set()",
            ),
            (FINALIZE, FINALIZE + "            self.kept.append(storage)\n"),
        ],
        check="test_phases",
    ),
    Wrong(
        "keeps the inputs",
        edits=[(BEFORE, BEFORE + "        self.timeline.inputs = args\n")],
        check="test_nothing_is_kept_alive",
    ),
    Wrong(
        "sees functions, not operations: no backward",
        edits=[
            (
                "from torch.utils._python_dispatch import TorchDispatchMode",
                "from torch.overrides import TorchFunctionMode",
            ),
            ("class _Follow(TorchDispatchMode)", "class _Follow(TorchFunctionMode)"),
            ("def __torch_dispatch__", "def __torch_function__"),
        ],
        check="test_training",
    ),
    Wrong(
        "what autograd saves, not what is alive",
        edits=[
            (
                BODY,
                "    timeline = Timeline()\n\n    def pack(x):\n        timeline._made(x.untyped_storage().nbytes())\n        return x\n\n    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):\n        yield timeline\n",
            )
        ],
        check="test_phases",
    ),
    Wrong("looks for tensors in Python", code=BY_GARBAGE, check="test_memory_from_before"),
    Wrong(
        "looks at the peak after operations have freed their inputs",
        edits=[
            ("        self._peak = max(self._peak, self._live)\n", ""),
            (RUN, "        self.timeline._peak = max(self.timeline._peak, self.timeline._live)\n" + RUN),
        ],
        check="test_phases",
    ),
    Wrong(
        "stays on after an error",
        edits=[
            (
                BODY,
                "    timeline = Timeline()\n    mode = _Follow(timeline)\n    mode.__enter__()\n    yield timeline\n    mode.__exit__(None, None, None)\n",
            )
        ],
        check="test_error_in_the_block",
    ),
    Wrong(
        "swallows errors",
        edits=[
            (
                BODY,
                BODY.replace(
                    "        yield timeline\n",
                    "        try:\n            yield timeline\n        except Exception:\n            pass\n",
                ),
            )
        ],
        check="test_error_in_the_block",
    ),
    Wrong(
        "rows only where the block ends well",
        edits=[
            (ROW, ROW.replace("self.rows", "self._later")),
            ("        self.rows = []\n", "        self.rows, self._later = [], []\n"),
            ("        yield timeline\n", "        yield timeline\n    timeline.rows = timeline._later\n"),
        ],
        check="test_error_in_the_block",
    ),
    Wrong(
        "never goes off",
        edits=[
            (
                BODY,
                "    timeline = Timeline()\n    mode = _Follow(timeline)\n    mode.__enter__()\n    try:\n        yield timeline\n    except BaseException:\n        mode.__exit__(None, None, None)\n        raise\n",
            )
        ],
        check="test_after_the_block",
    ),
    Wrong(
        "one timeline for all blocks",
        edits=[
            (
                "    timeline = Timeline()\n",
                "    timeline = _TIMELINE\n    timeline.rows.clear()\n    timeline._live = timeline._peak = 0\n",
            ),
            ("\n\nclass _Follow", "\n\n_TIMELINE = Timeline()\n\n\nclass _Follow"),
        ],
        check="test_after_the_block",
    ),
    Wrong(
        "runs every operation twice",
        edits=[(RUN, RUN + RUN.replace("result = ", ""))],
        check="test_computes_the_same",
    ),
    Wrong(
        "detaches",
        edits=[
            (
                BODY,
                BODY.replace(
                    "        yield timeline\n", "        with torch.no_grad():\n            yield timeline\n"
                ),
            )
        ],
        check="test_training",
    ),
    Right("the profiler's record of the allocator", code=BY_PROFILER),
    Right(
        "a table of weak references, the sum anew at each operation",
        code="""
import weakref
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only


@dataclass
class Phase:
    name: str
    peak: int
    live: int


class Timeline(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.rows, self.refs, self.high = [], [], 0

    def alive(self):
        self.refs = [(ref, own) for ref, own in self.refs if ref() is not None]
        return sum(ref().nbytes() for ref, own in self.refs if own)

    def mark(self, name):
        now = self.alive()
        self.rows.append(Phase(name=name, live=now, peak=max(self.high, now)))
        self.high = now

    def see(self, data, own):
        def one(x):
            mine = x.untyped_storage()
            if not any(ref() is mine for ref, _ in self.refs):
                self.refs.append((weakref.ref(mine), own))
            return x

        tree_map_only(torch.Tensor, one, data)

    def __torch_dispatch__(self, func, types, args=(), kwargs={}):
        self.see([args, kwargs], False)
        out = func(*args, **kwargs)
        self.see(out, True)
        self.high = max(self.high, self.alive())
        return out


def memory_timeline():
    return Timeline()
""",
    ),
    Wrong(
        "switches gradients on in the block",
        edits=[(BODY, BODY.replace("_Follow(timeline):", "_Follow(timeline), torch.enable_grad():"))],
        check="test_computes_the_same",
        says="no_grad",
    ),
    Wrong(
        "follows from the call on, not from the block",
        edits=[
            (
                "@contextmanager\ndef memory_timeline() -> AbstractContextManager[Timeline]:",
                "def memory_timeline() -> AbstractContextManager[Timeline]:",
            ),
            (
                BODY,
                """    timeline = Timeline()
    mode = _Follow(timeline).__enter__()

    @contextmanager
    def block():
        try:
            yield timeline
        finally:
            mode.__exit__(None, None, None)

    return block()
""",
            ),
        ],
        check="test_after_the_block",
        says="a second block",
    ),
    Wrong(
        "knows memory from before by the address where a tensor begins, as its views do not",
        edits=[
            (
                BEFORE,
                "        before = {x.data_ptr() for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)}\n",
            ),
            (SIZE, "            if storage.data_ptr() not in before:\n    " + SIZE),
        ],
        check="test_memory_from_before",
    ),
]
