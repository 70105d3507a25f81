"""Answers to memory_timeline that people write."""

from grader.authoring.specimen import Right, Works, Wrong

ROW = "        self.rows.append(Phase(name, self._peak, self._live))\n"
RESET = "        self._peak = self._live\n\n"
MADE = "        self._live += size\n"
SIZE = "            self._follow(storage, storage.nbytes())\n"
BEFORE = """        for storage in _storages((args, kwargs)):
            self._follow(storage, 0)  # was there before the operation, so before the block
"""
KEY = "        address = storage._cdata\n"
FORGET = "        self.known.discard(address)  # another one may be made at the same address\n"
FINALIZE = "            weakref.finalize(storage, self._forget, address, size)\n"
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
            if isinstance(x, torch.Tensor) and not any(x is y for y in tree_leaves((args, kwargs))):
                self.timeline._made(x.numel() * x.element_size())
                weakref.finalize(x, self.timeline._freed, x.numel() * x.element_size())
"""
PHASE = """
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only


@dataclass
class Phase:
    name: str
    peak: int
    live: int

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
        rung="job",
        check="test_phases",
        says="one peak for all phases",
    ),
    Wrong(
        "each phase counts on its own",
        edits=[(RESET, "        self._peak = 0\n\n")],
        rung="job",
        check="test_phases",
        says="not with 0",
    ),
    Wrong(
        "the peak in live",
        edits=[(ROW, ROW.replace("self._live)", "self._peak)"))],
        rung="job",
        check="test_phases",
    ),
    Wrong(
        "counts what is made, and never what is freed",
        edits=[(FINALIZE, "")],
        rung="job",
        check="test_phases",
        says="what is freed still counts",
    ),
    Wrong(
        "numbers instead of bytes",
        edits=[(SIZE, SIZE.replace("storage.nbytes()", "storage.nbytes() // 4"))],
        rung="job",
        check="test_phases",
        says="bytes count, not numbers",
    ),
    Wrong(
        "follows the tensor, not its memory",
        edits=[(RESULT, BY_TENSOR), (BEFORE, "")],
        rung="job",
        check="test_views",
    ),
    Wrong(
        "takes what an operation in place returns for new memory",
        edits=[(BEFORE, "")],
        rung="job",
        check="test_memory_from_before",
    ),
    Wrong(
        "counts inputs too",
        edits=[(BEFORE, BEFORE.replace("storage, 0)", "storage, storage.nbytes())"))],
        rung="job",
        check="test_phases",
        says="memory from before the block does not count",
    ),
    Wrong(
        "never forgets an address",
        edits=[(FORGET, "")],
        rung="job",
        check="test_addresses_come_back",
    ),
    Wrong(
        "single tensors only",
        edits=[
            (
                RESULT,
                "        if isinstance(result, torch.Tensor):\n"
                + "".join("    " + line + "\n" for line in RESULT.splitlines()),
            )
        ],
        rung="job",
        check="test_several_results",
        says="a tuple is passed over",
    ),
    Wrong(
        "sees functions, not operations: no backward",
        edits=[
            (
                "from torch.utils._python_dispatch import TorchDispatchMode\n",
                "from torch.overrides import TorchFunctionMode as TorchDispatchMode\n",
            ),
            ("__torch_dispatch__", "__torch_function__"),
        ],
        rung="job",
        check="test_training",
    ),
    Wrong(
        "looks for tensors in Python",
        code="import gc\n"
        + PHASE
        + """
def alive():
    tensors = [thing for thing in gc.get_objects() if isinstance(thing, torch.Tensor)]
    return sum({x.untyped_storage()._cdata: x.untyped_storage().nbytes() for x in tensors}.values())


class Timeline(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.rows, self.peak, self.base = [], 0, alive()

    def look(self):
        live = alive() - self.base
        self.peak = max(self.peak, live)
        return live

    def mark(self, name):
        live = self.look()
        self.rows.append(Phase(name, self.peak, live))
        self.peak = live

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.look()
        return result


def memory_timeline():
    return Timeline()
""",
        rung="job",
        check="test_memory_from_before",
    ),
    Wrong(
        "the size of the tensor, not of its memory",
        edits=[
            (
                RESULT,
                "        for x in tree_leaves(result):\n"
                "            if isinstance(x, torch.Tensor):\n"
                "                self._follow(x.untyped_storage(), x.numel() * x.element_size())\n",
            )
        ],
        rung="fine",
        check="test_all_bytes",
        says="not its memory",
    ),
    Wrong(
        "keeps the inputs",
        edits=[(BEFORE, BEFORE + "        self.inputs = [*getattr(self, 'inputs', []), args]\n")],
        rung="fine",
        check="test_nothing_is_kept_alive",
    ),
    Wrong(
        "stays on after an error",
        edits=[
            (
                BODY,
                """    timeline = Timeline()
    mode = _Follow(timeline)
    mode.__enter__()
    yield timeline
    mode.__exit__(None, None, None)
""",
            )
        ],
        rung="fine",
        check="test_error_in_the_block",
        says="still followed",
    ),
    Wrong(
        "one timeline for all blocks",
        edits=[
            (BODY, BODY.replace("    timeline = Timeline()\n", "    timeline = TIMELINE\n")),
            ("@contextmanager\n", "TIMELINE = Timeline()\n\n\n@contextmanager\n"),
        ],
        rung="fine",
        check="test_after_the_block",
    ),
    Wrong(
        "runs every operation twice",
        edits=[(RUN, "        func(*args, **(kwargs or {}))\n" + RUN)],
        rung="fine",
        check="test_computes_the_same",
    ),
    Works(
        "a table by identity with weak keys, as in PyTorch's own trackers",
        code="from torch.utils.weak import WeakIdKeyDictionary\n"
        + PHASE
        + """
class Timeline(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.rows, self.peak = [], 0
        self.sizes = WeakIdKeyDictionary()

    @property
    def live(self):
        return sum(self.sizes.values())

    def mark(self, name):
        self.rows.append(Phase(name, max(self.peak, self.live), self.live))
        self.peak = self.live

    def track(self, x, old):
        st = x.untyped_storage()
        if st not in self.sizes:
            self.sizes[st] = 0 if old else x.numel() * x.element_size()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        tree_map_only(torch.Tensor, lambda t: self.track(t, True), (args, kwargs))
        out = func(*args, **(kwargs or {}))
        tree_map_only(torch.Tensor, lambda t: self.track(t, False), out)
        self.peak = max(self.peak, self.live)
        return out


def memory_timeline():
    return Timeline()
""",
    ),
    Works(
        "counters and finalizers, by address, switched on and off by hand",
        code="import weakref\n"
        + PHASE
        + """
class Tracker(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.current = self.peak = 0
        self.seen = set()

    def free(self, key, n):
        self.seen.remove(key)
        self.current -= n

    def add(self, out, count):
        for t in tree_leaves(out):
            if not isinstance(t, torch.Tensor):
                continue
            s = t.untyped_storage()
            if s._cdata in self.seen:
                continue
            n = s.nbytes() if count else 0
            self.seen.add(s._cdata)
            self.current += n
            weakref.finalize(s, self.free, s._cdata, n)
        self.peak = max(self.peak, self.current)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.add([args, kwargs], False)
        out = func(*args, **kwargs)
        self.add(out, True)
        return out


class Timeline:
    def __init__(self, tracker):
        self.tracker, self.rows = tracker, []

    def mark(self, name):
        t = self.tracker
        self.rows.append(Phase(name, t.peak, t.current))
        t.peak = t.current


@contextmanager
def memory_timeline():
    tracker = Tracker()
    tracker.__enter__()
    yield Timeline(tracker)
    tracker.__exit__(None, None, None)
""",
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
]
