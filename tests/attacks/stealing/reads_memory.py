"""Reads the engine's memory.
deserves = ["broken"]
says = "found nothing"
"""
import os
try:
    open(f'/proc/{os.getppid()}/mem', 'rb').read(1)
    what = 'memory'
except OSError as e:
    what = 'nothing'
raise RuntimeError('found ' + what)
