"""Abort.
deserves = ["crashed"]
says = "signal"
"""
import os
os.abort()
