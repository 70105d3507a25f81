"""Millions of files.
deserves = ["broken", "timeout"]
"""
import os
for i in range(10**7): open(f'/tmp/f{i}', 'w').close()
