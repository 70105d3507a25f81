"""Answers to profile_top_ops that people write."""

from grader.authoring.specimen import Right, Wrong

CHECK = """    if active < 1 or top < 1 or wait < 0 or warmup < 0:
        raise ValueError(f"impossible schedule or table: {wait=}, {warmup=}, {active=}, {top=}")
"""
WITH = "    with profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=by_shape) as profiler:\n"
LOOP = """        for _ in range(wait + warmup + active):
            step()
            profiler.step()  # behind the step: the schedule is at number 0 from the start
"""
FOUND = '[a for a in averages if not a.key.startswith("ProfilerStep")]'
TOTAL = "total = sum(a.self_cpu_time_total for a in found) or 1.0"
SORT = "    found.sort(key=lambda a: a.self_cpu_time_total, reverse=True)\n"
SHAPES = "[list(shape) for shape in a.input_shapes] if by_shape else []"
ROWS = "    return [\n        Row("

SPECIMENS = [
    Wrong(
        "by_shape by name only",
        edits=[("    by_shape: bool", "    *,\n    by_shape: bool")],
        check="test_by_shape",
    ),
    Wrong(
        "takes it that a label is set once in each step",
        edits=[
            (
                "            calls=a.count,\n",
                "            calls=a.count if '::' in a.key or 'Backward' in a.key else min(a.count, active),\n",
            )
        ],
        check="test_names",
    ),
    Wrong(
        "ends where the batches end",
        edits=[
            (
                LOOP,
                LOOP.replace(
                    "            step()\n",
                    "            try:\n                step()\n            except StopIteration:\n                break\n",
                ),
            )
        ],
        check="test_errors",
        says="no more batches",
    ),
    Wrong(
        "what is in brackets is the profiler's own",
        edits=[(FOUND, FOUND.replace('"ProfilerStep"', '("ProfilerStep", "[")'))],
        check="test_names",
        says="[io] read",
    ),
    Wrong(
        "no schedule: everything counts",
        edits=[
            ("schedule=plan, ", ""),
            (
                "            profiler.step()  # behind the step: the schedule is at number 0 from the start\n",
                "",
            ),
        ],
        check="test_which_steps_count",
    ),
    Wrong(
        "never says where a step ends",
        edits=[
            (
                "            profiler.step()  # behind the step: the schedule is at number 0 from the start\n",
                "",
            )
        ],
        check="test_which_steps_count",
    ),
    Wrong(
        "says it before the step",
        edits=[
            (
                LOOP,
                "        for _ in range(wait + warmup + active):\n            profiler.step()\n            step()\n",
            )
        ],
        check="test_which_steps_count",
    ),
    Wrong(
        "one step too many",
        edits=[("range(wait + warmup + active)", "range(wait + warmup + active + 1)")],
        check="test_which_steps_count",
    ),
    Wrong(
        "runs the active steps only",
        edits=[("range(wait + warmup + active)", "range(active)")],
        check="test_which_steps_count",
    ),
    Wrong(
        "the schedule begins again, and forgets",
        edits=[(", repeat=1)", ")")],
        check="test_which_steps_count",
    ),
    Wrong(
        "no warm-up in the schedule",
        edits=[("wait=wait, warmup=warmup, active=active,", "wait=wait, warmup=0, active=active + warmup,")],
        check="test_which_steps_count",
    ),
    Wrong(
        "keeps the defaults of the schedule",
        edits=[("wait=wait, warmup=warmup, active=active,", "wait=1, warmup=1, active=3,")],
        check="test_which_steps_count",
    ),
    Wrong(
        "other defaults",
        edits=[("    active: int = 3,", "    active: int = 5,")],
        check="test_defaults",
    ),
    Wrong(
        "a longer table by default",
        edits=[("    top: int = 10,", "    top: int = 20,")],
        check="test_defaults",
    ),
    Wrong(
        "sorted by total time: the callers come first",
        edits=[(SORT, "    found.sort(key=lambda a: a.cpu_time_total, reverse=True)\n")],
        check="test_bottleneck",
        says="aten::linear",
    ),
    Wrong(
        "total time throughout",
        edits=[
            (TOTAL, "total = sum(a.cpu_time_total for a in found) or 1.0"),
            (SORT, "    found.sort(key=lambda a: a.cpu_time_total, reverse=True)\n"),
            ("self_us=a.self_cpu_time_total,", "self_us=a.cpu_time_total,"),
            ("share=a.self_cpu_time_total / total", "share=a.cpu_time_total / total"),
        ],
        check="test_self_time",
        says="together",
    ),
    Wrong(
        "total time in the rows, though sorted by self time",
        edits=[("self_us=a.self_cpu_time_total,", "self_us=a.cpu_time_total,")],
        check="test_self_time",
    ),
    Wrong(
        "the time of a call, not of all",
        edits=[("self_us=a.self_cpu_time_total,", "self_us=a.self_cpu_time_total / a.count,")],
        check="test_self_time",
    ),
    Wrong(
        "milliseconds",
        edits=[("self_us=a.self_cpu_time_total,", "self_us=a.self_cpu_time_total / 1000,")],
        check="test_self_time",
    ),
    Wrong(
        "the time of a step, not of all",
        edits=[("self_us=a.self_cpu_time_total,", "self_us=a.self_cpu_time_total / active,")],
        check="test_self_time",
    ),
    Wrong(
        "keeps the profiler's marks",
        edits=[(FOUND, "list(averages)")],
        check="test_which_steps_count",
        says="ProfilerStep*",
    ),
    Wrong(
        "drops whatever begins with Profiler",
        edits=[('startswith("ProfilerStep")', 'startswith("Profiler")')],
        check="test_names",
    ),
    Wrong(
        "cuts the number off a name",
        edits=[("name=a.key", 'name=a.key.split("#")[0]')],
        check="test_names",
    ),
    Wrong(
        "keeps all results",
        edits=[
            (LOOP, LOOP.replace("            step()", "            kept.append(step())")),
            (WITH, "    kept = []\n" + WITH),
        ],
        check="test_results_are_dropped",
        says="earlier steps",
    ),
    Wrong(
        "operations only, no labels",
        edits=[(FOUND, '[a for a in averages if a.key.startswith("aten::")]')],
        check="test_bottleneck",
    ),
    Wrong(
        "operations and backward, no labels",
        edits=[(FOUND, "[a for a in averages if not a.is_user_annotation]")],
        check="test_bottleneck",
    ),
    Wrong(
        "drops autograd's rows",
        edits=[
            (
                FOUND,
                '[a for a in averages if not a.key.startswith("ProfilerStep") and "Backward" not in a.key]',
            )
        ],
        check="test_backward",
    ),
    Wrong(
        "calls of a step, not of all",
        edits=[("calls=a.count", "calls=a.count // active")],
        check="test_which_steps_count",
    ),
    Wrong("not sorted", edits=[(SORT, "")], check="test_sorted_and_cut"),
    Wrong(
        "the smallest first",
        edits=[(", reverse=True)", ")")],
        check="test_sorted_and_cut",
    ),
    Wrong(
        "sorted by calls",
        edits=[("key=lambda a: a.self_cpu_time_total, reverse", "key=lambda a: a.count, reverse")],
        check="test_sorted_and_cut",
    ),
    Wrong("not cut off", edits=[("found[:top]", "found")], check="test_sorted_and_cut"),
    Wrong("ten rows always", edits=[("found[:top]", "found[:10]")], check="test_sorted_and_cut"),
    Wrong(
        "cut off before the marks are dropped",
        edits=[
            (
                "group_by_input_shape=by_shape)\n",
                "group_by_input_shape=by_shape)\n    averages = sorted(averages, key=lambda a: a.self_cpu_time_total, reverse=True)[:top]\n",
            )
        ],
        check="test_sorted_and_cut",
    ),
    Wrong(
        "shares of what is returned",
        edits=[(SORT, SORT + "    total = sum(a.self_cpu_time_total for a in found[:top]) or 1.0\n")],
        check="test_share",
    ),
    Wrong(
        "shares of the sum with the profiler's marks",
        edits=[(TOTAL, "total = sum(a.self_cpu_time_total for a in averages) or 1.0")],
        check="test_share",
    ),
    Wrong(
        "percent",
        edits=[("a.self_cpu_time_total / total", "100 * a.self_cpu_time_total / total")],
        check="test_share",
    ),
    Wrong(
        "ignores by_shape",
        edits=[("group_by_input_shape=by_shape", "group_by_input_shape=False"), (SHAPES, "[]")],
        check="test_by_shape",
    ),
    Wrong(
        "drops the shapes of plain numbers",
        edits=[(SHAPES, SHAPES.replace("in a.input_shapes]", "in a.input_shapes if shape]"))],
        check="test_by_shape",
        says="aten::mul with a number",
    ),
    Wrong(
        "does not record shapes",
        edits=[("record_shapes=by_shape", "record_shapes=False")],
        check="test_by_shape",
    ),
    Wrong(
        "groups by shapes always",
        edits=[
            ("record_shapes=by_shape", "record_shapes=True"),
            ("group_by_input_shape=by_shape", "group_by_input_shape=True"),
        ],
        check="test_by_shape",
    ),
    Wrong(
        "shapes as text",
        edits=[(SHAPES, "str(a.input_shapes) if by_shape else []")],
        check="test_by_shape",
    ),
    Wrong(
        "the profiler stays on after an error",
        edits=[
            (
                WITH,
                "    profiler = profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=by_shape)\n    profiler.start()\n    if True:\n",
            ),
            ("    averages =", "    profiler.stop()\n    averages ="),
        ],
        check="test_errors",
        says="still on",
    ),
    Wrong(
        "skips a step that raises",
        edits=[
            (
                "            step()\n",
                "            try:\n                step()\n            except Exception:\n                continue\n",
            )
        ],
        check="test_errors",
    ),
    Wrong(
        "wraps the error",
        edits=[
            (
                "            step()\n",
                '            try:\n                step()\n            except Exception as error:\n                raise RuntimeError("a step failed") from error\n',
            )
        ],
        check="test_errors",
    ),
    Wrong(
        "steps without gradients",
        edits=[
            ("            step()\n", "            with torch.no_grad():\n                step()\n"),
            ("from collections.abc", "import torch\nfrom collections.abc"),
        ],
        check="test_backward",
    ),
    Wrong(
        "divides by nothing",
        edits=[(TOTAL, "total = sum(a.self_cpu_time_total for a in found)"), (ROWS, "    found[0]\n" + ROWS)],
        check="test_nothing_runs",
    ),
    Wrong(
        "adds up all profiles ever made",
        edits=[
            ("    found.sort(", "    _seen.extend(found)\n    found = list(_seen)\n    found.sort("),
            ("\n\ndef profile_top_ops(", "\n\n_seen = []\n\n\ndef profile_top_ops("),
        ],
        check="test_calls_do_not_mix",
    ),
    Wrong("no check", edits=[(CHECK, "")], check="test_bad_input"),
    Wrong(
        "leaves the check to the schedule",
        edits=[(CHECK, '    if top < 1:\n        raise ValueError("top")\n')],
        check="test_bad_input",
    ),
    Wrong(
        "waits first, and checks then",
        edits=[
            (
                CHECK,
                CHECK.replace(
                    "        raise", "        for _ in range(wait):\n            step()\n        raise"
                ),
            )
        ],
        check="test_bad_input",
        says="in spite of",
    ),
    Wrong(
        "no check of the sign",
        edits=[
            ("active < 1 or top < 1 or wait < 0 or warmup < 0", "not active or not top or wait + warmup < 0")
        ],
        check="test_bad_input",
    ),
    Right(
        "starts and stops the profiler by hand, and adds up single events",
        code="""
from collections import defaultdict
from dataclasses import dataclass

import torch


@dataclass
class Row:
    name: str
    calls: int
    self_us: float
    share: float
    shapes: list


def profile_top_ops(step, wait=1, warmup=1, active=3, top=10, by_shape=False):
    if min(active, top) <= 0:
        raise ValueError("active and top must be above 0")
    if min(wait, warmup) < 0:
        raise ValueError("wait and warmup must not be negative")
    for _ in range(wait):
        step()
    if warmup:
        with torch.autograd.profiler.profile(record_shapes=by_shape):
            for _ in range(warmup):
                step()
    with torch.autograd.profiler.profile(record_shapes=by_shape) as profiler:
        for _ in range(active):
            step()
    times, counts = defaultdict(float), defaultdict(int)
    for event in profiler.function_events:
        key = (event.name, str(event.input_shapes) if by_shape else "[]")
        times[key] += event.self_cpu_time_total
        counts[key] += 1
    total = sum(times.values())
    rows = [
        Row(name, counts[name, shapes], time, time / total, eval(shapes)) for (name, shapes), time in times.items()
    ]
    return sorted(rows, key=lambda row: -row.self_us)[:top]
""",
    ),
    Right(
        "a handler of the trace, an endless schedule",
        edits=[
            (", repeat=1)", ", repeat=0)"),
            (
                WITH,
                "    ready = []\n"
                + WITH.replace(
                    "record_shapes",
                    "on_trace_ready=lambda p: ready.append(p.key_averages(group_by_input_shape=by_shape)), record_shapes",
                ),
            ),
            (
                "    averages = profiler.key_averages(group_by_input_shape=by_shape)\n",
                "    averages = ready[0]\n",
            ),
        ],
    ),
    Wrong(
        "drops the rows of autograd's engine",
        edits=[(FOUND, FOUND.replace('"ProfilerStep"', '("ProfilerStep", "autograd::")'))],
        check="test_backward",
        says="evaluate_function",
    ),
]
