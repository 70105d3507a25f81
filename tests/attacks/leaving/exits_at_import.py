"""Os._exit at import.
deserves = ["crashed"]
says = "left before"
"""
import os
os._exit(0)
