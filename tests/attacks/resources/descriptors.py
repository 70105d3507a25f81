"""All descriptors.
deserves = ["broken"]
"""
import os
held = []
while True: held.append(os.dup(1))
