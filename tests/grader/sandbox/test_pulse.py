"""A child that does not go on is ended, whatever time it has left."""

import subprocess
import sys

import pytest

CHILD = """
import os, time
from grader import sandbox
box = sandbox.Unconfined()
pulse = sandbox.Pulse({pace})
pid = box.fork(sandbox.Limits(), keep=[pulse.writer])
if pid == 0:
    {does}
    os._exit(7)
ended = box.wait(pid, 600, pulse)
pulse.close()
print(ended.exit, ended.signal, ended.timed_out)
"""


@pytest.mark.parametrize(
    ("pace", "does", "told"),
    [
        ("600, 0.1", "pulse.beat(); time.sleep(600)", "0 9 True"),
        ("0.1, 600", "time.sleep(600)", "0 9 True"),
        ("0.5, 600", "os.close(pulse.writer); time.sleep(600)", "0 9 True"),
        ("600, 600", "pulse.beat(); time.sleep(0.1)", "7 0 False"),
        ("600, 600", "os.close(pulse.writer); pulse.beat(); time.sleep(0.1)", "7 0 False"),
    ],
    ids=["stops", "never begins", "closes its end", "goes on", "closes its end and goes on"],
)
def test_who_does_not_go_on_is_ended(pace, does, told):
    code = CHILD.format(pace=pace, does=does)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == told, done.stderr
