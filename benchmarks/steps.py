"""How long it takes to judge the solutions of all first steps on two cores: under 20 s is the aim.

    python benchmarks/steps.py [--jobs 2] [--only e01/steps] [--slowest 10] [--sandbox]

The clock starts before the engine is there, as it does for `kata grade`, and stops with the last verdict.
"""

import argparse
import time

from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.protocol.job import Job

SEED = 0


def main() -> None:
    """Parse, judge, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="answers at a time")
    parser.add_argument("--only", action="append", help="a section's steps, or one step")
    parser.add_argument("--slowest", type=int, default=10, help="so many are named")
    parser.add_argument("--sandbox", action="store_true", help="confine answers, as `kata grade` does")
    options = parser.parse_args()
    steps = [e for e in load().select(options.only) if e.is_step]
    began = time.perf_counter()
    found = {}
    with Pool(steps, jobs=options.jobs, confined=options.sandbox) as pool:
        warm = time.perf_counter()
        for job, transcript in pool.judge(Job(e, e.file("solutions").read_bytes(), SEED) for e in steps):
            found[job.slug] = [transcript.of(spec) for spec in pool.inventory[job.slug]]
        ended = time.perf_counter()
    took, start = ended - began, warm - began
    print(f"{len(steps)} steps, {options.jobs} at a time: {took:.1f} s, of which {start:.1f} s to start")
    seconds = {slug: sum(check.seconds for check in checks) for slug, checks in found.items()}
    for slug in sorted(seconds, key=lambda slug: -seconds[slug])[: options.slowest]:
        print(f"  {seconds[slug]:6.2f} s  {slug}")
    for slug, checks in found.items():
        lost = [check.outcome for check in checks if check.outcome not in ("passed", "not_graded")]
        if lost or not checks:
            print(f"  {slug} does not pass: {', '.join(lost) or 'no check'}")


if __name__ == "__main__":
    main()
