"""Writes to a pipe what every pipe has room for, before anybody reads.
then = "_right.py"
deserves = ["passed"]
"""
import os, time
time.sleep(1)
reader, writer = os.pipe()
os.write(writer, bytes(65536))
