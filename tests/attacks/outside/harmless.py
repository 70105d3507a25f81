"""Tries what it may, and does nobody any harm.
deserves = ["broken"]
says = "it was done"
[each]
kills_its_process_group = 'os.kill(0, signal.SIGKILL)'
slows_its_process_group_down = 'os.setpriority(os.PRIO_PGRP, 0, 19)'
"""
import os, signal, socket
try:
    EACH
    what = 'done'
except OSError as error:
    what = 'refused'
raise RuntimeError('it was ' + what)
