"""A segfault.
deserves = ["crashed"]
says = "signal 11"
"""
import ctypes
ctypes.string_at(0)
