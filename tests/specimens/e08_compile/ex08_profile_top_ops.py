"""Answers to profile_top_ops that people write."""

from grader.authoring.specimen import Right, Works, Wrong

CHECK = """    if active < 1 or wait < 0 or warmup < 0:
        raise ValueError(f"impossible schedule: {wait=}, {warmup=}, {active=}")
"""
WITH = "    with profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=by_shape) as profiler:\n"
LOOP = """        for _ in range(wait + warmup + active):
            step()
            profiler.step()  # behind the step: the schedule is at number 0 from the start
"""
AVERAGES = "    averages = profiler.key_averages(group_by_input_shape=by_shape)\n"
FOUND = '[a for a in averages if not a.key.startswith("ProfilerStep")]'
TOTAL = "    total = sum(a.self_cpu_time_total for a in found)\n"
SORT = "    found.sort(key=lambda a: a.self_cpu_time_total, reverse=True)\n"
SELF = "self_us=a.self_cpu_time_total"
SHARE = "share=a.self_cpu_time_total / total"
ROW = """
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile, schedule


@dataclass
class Row:
    name: str
    calls: int
    self_us: float
    share: float
    shapes: list

"""

SPECIMENS = [
    Wrong(
        "no schedule: everything counts",
        edits=[
            (WITH, WITH.replace("schedule=plan, ", "")),
            (
                LOOP,
                LOOP.replace(
                    "            profiler.step()  # behind the step: the schedule is at number 0 from the start\n",
                    "",
                ),
            ),
        ],
        rung="job",
        check="test_which_steps_count",
        says="there is no schedule",
    ),
    Wrong(
        "says it before the step",
        edits=[
            (
                LOOP,
                "        for _ in range(wait + warmup + active):\n            profiler.step()\n            step()\n",
            )
        ],
        rung="job",
        check="test_which_steps_count",
        says="belongs behind the step",
    ),
    Wrong(
        "with stacks: Python functions take the time of the labels",
        edits=[("record_shapes=by_shape)", "record_shapes=by_shape, with_stack=True)")],
        rung="job",
        check="test_names_the_bottleneck",
    ),
    Wrong(
        "never says where a step ends",
        edits=[(LOOP, "        for _ in range(wait + warmup + active):\n            step()\n")],
        rung="job",
        check="test_which_steps_count",
    ),
    Wrong(
        "runs the active steps only",
        edits=[("range(wait + warmup + active)", "range(active)")],
        rung="job",
        check="test_names_the_bottleneck",
        says="the active steps",
    ),
    Wrong(
        "no warm-up in the schedule",
        edits=[("warmup=warmup, active=active", "warmup=0, active=active + warmup")],
        rung="job",
        check="test_which_steps_count",
        says="steps of the warm-up count as well",
    ),
    Wrong(
        "sorted by total time: the callers come first",
        edits=[(SORT, SORT.replace("a.self_cpu", "a.cpu"))],
        rung="job",
        check="test_bottleneck",
        says="sorted by total time",
    ),
    Wrong(
        "total time in the rows, though sorted by self time",
        edits=[(SELF, "self_us=a.cpu_time_total")],
        rung="job",
        check="test_self_time",
        says="counted twice",
    ),
    Wrong(
        "milliseconds",
        edits=[(SELF, SELF + " / 1000")],
        rung="job",
        check="test_self_time",
    ),
    Wrong(
        "operations only, no labels",
        edits=[(FOUND, '[a for a in averages if a.key.startswith("aten::")]')],
        rung="job",
        check="test_bottleneck",
    ),
    Wrong(
        "calls of a step, not of all",
        edits=[("calls=a.count", "calls=a.count // active")],
        rung="job",
        check="test_names_the_bottleneck",
    ),
    Wrong(
        "the smallest first",
        edits=[(SORT, SORT.replace(", reverse=True", ""))],
        rung="job",
        check="test_sorted_and_cut",
    ),
    Wrong(
        "shares of what is returned",
        edits=[(TOTAL + SORT, SORT + TOTAL.replace("in found", "in found[:top]"))],
        rung="job",
        check="test_share",
        says="not of all",
    ),
    Wrong(
        "percent",
        edits=[(SHARE, SHARE.replace("share=", "share=100 * "))],
        rung="job",
        check="test_share",
    ),
    Wrong(
        "does not record shapes",
        edits=[("record_shapes=by_shape", "record_shapes=False")],
        rung="job",
        check="test_by_shape",
    ),
    Wrong(
        "groups by shapes always",
        edits=[
            ("record_shapes=by_shape", "record_shapes=True"),
            ("group_by_input_shape=by_shape", "group_by_input_shape=True"),
        ],
        rung="job",
        check="test_by_shape",
    ),
    Wrong(
        "steps without gradients",
        edits=[
            (
                LOOP,
                LOOP.replace(
                    "            step()\n", "            with torch.no_grad():\n                step()\n", 1
                ),
            ),
            ("from torch.profiler", "import torch\nfrom torch.profiler"),
        ],
        rung="job",
        check="test_bottleneck",
    ),
    Wrong(
        "the schedule begins again, and forgets",
        edits=[(", repeat=1", "")],
        rung="fine",
        check="test_no_wait_or_warmup",
        says="repeat=1",
    ),
    Wrong(
        "keeps the profiler's marks",
        edits=[(FOUND, "list(averages)")],
        rung="fine",
        check="test_marks",
        says="ProfilerStep*",
    ),
    Wrong(
        "shares of the sum with the profiler's marks",
        edits=[(TOTAL, TOTAL.replace("in found", "in averages"))],
        rung="fine",
        check="test_marks",
        says="not 1 together",
    ),
    Wrong(
        "shapes as they come, a text where there are none",
        edits=[("shapes=a.input_shapes if by_shape else []", "shapes=a.input_shapes")],
        rung="fine",
        check="test_no_shapes",
    ),
    Wrong(
        "the profiler stays on after an error",
        edits=[
            (
                WITH,
                WITH.replace("    with ", "    profiler = ").replace(" as profiler:", "")
                + "    profiler.start()\n",
            ),
            (LOOP, "".join(line[4:] + "\n" for line in LOOP.splitlines()) + "    profiler.stop()\n"),
        ],
        rung="fine",
        check="test_errors",
        says="still on",
    ),
    Wrong(
        "skips a step that raises",
        edits=[
            (
                LOOP,
                LOOP.replace(
                    "            step()\n",
                    "            try:\n                step()\n            except Exception as e:\n                print(e)\n",
                    1,
                ),
            )
        ],
        rung="fine",
        check="test_errors",
    ),
    Wrong(
        "no check, and steps run by hand",
        code=ROW
        + """
def profile_top_ops(step, wait=1, warmup=1, active=3, top=10, by_shape=False):
    for _ in range(wait + warmup):
        step()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=by_shape) as prof:
        for _ in range(active):
            step()
    rows = sorted(prof.key_averages(group_by_input_shape=by_shape), key=lambda a: -a.self_cpu_time_total)
    total = sum(a.self_cpu_time_total for a in rows)
    return [
        Row(a.key, a.count, a.self_cpu_time_total, a.self_cpu_time_total / total, a.input_shapes if by_shape else [])
        for a in rows[:top]
    ]
""",
        rung="fine",
        check="test_bad_input",
    ),
    Works(
        "key_averages sorted, with a schedule, as the recipe has it",
        code=ROW
        + """
def profile_top_ops(step, wait=1, warmup=1, active=3, top=10, by_shape=False):
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=wait, warmup=warmup, active=active),
        record_shapes=True,
    ) as prof:
        for _ in range(wait + warmup + active):
            step()
            prof.step()
    events = prof.key_averages(group_by_input_shape=by_shape)
    events = sorted(events, key=lambda e: e.self_cpu_time_total, reverse=True)
    total = sum(e.self_cpu_time_total for e in events)
    return [
        Row(e.key, e.count, e.self_cpu_time_total, e.self_cpu_time_total / total, e.input_shapes)
        for e in events[:top]
    ]
""",
    ),
    Works(
        "in a handler of the trace, with the memory as well",
        code=ROW
        + """
def profile_top_ops(step, wait=1, warmup=1, active=3, top=10, by_shape=False):
    found = []

    def trace_handler(p):
        found.extend(p.key_averages(group_by_input_shape=by_shape))

    with torch.profiler.profile(
        schedule=torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1),
        on_trace_ready=trace_handler,
        record_shapes=by_shape,
        profile_memory=True,
    ) as p:
        for _ in range(wait + warmup + active):
            step()
            p.step()
    total = sum(e.self_cpu_time_total for e in found)
    found.sort(key=lambda e: e.self_cpu_time_total, reverse=True)
    rows = []
    for e in found[:top]:
        shapes = e.input_shapes if by_shape else []
        rows.append(Row(e.key, e.count, e.self_cpu_time_total, e.self_cpu_time_total / total, shapes))
    return rows
""",
    ),
    Right(
        "starts and stops the profiler by hand, and adds up single events",
        code=ROW
        + """
def profile_top_ops(step, wait=1, warmup=1, active=3, top=10, by_shape=False):
    if active <= 0 or min(wait, warmup) < 0:
        raise ValueError("active must be above 0, and wait and warmup must not be negative")
    for _ in range(wait):
        step()
    if warmup:
        with torch.autograd.profiler.profile(record_shapes=by_shape):
            for _ in range(warmup):
                step()
    with torch.autograd.profiler.profile(record_shapes=by_shape) as profiler:
        for _ in range(active):
            step()
    times, counts, shapes = {}, {}, {}
    for event in profiler.function_events:
        key = (event.name, str(event.input_shapes) if by_shape else "")
        times[key] = times.get(key, 0.0) + event.self_cpu_time_total
        counts[key] = counts.get(key, 0) + 1
        shapes[key] = event.input_shapes if by_shape else []
    total = sum(times.values())
    rows = [Row(key[0], counts[key], us, us / total, shapes[key]) for key, us in times.items()]
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
            (AVERAGES, "    averages = ready[0]\n"),
        ],
    ),
]
