"""Kills its process group on the device.
exercise = "device_agnostic"
deserves = ["broken"]
says = "it was done"
"""
import os, signal
os.kill(0, signal.SIGKILL)
raise RuntimeError('it was done')
