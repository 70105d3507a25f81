"""Thousands of threads.
deserves = ["broken", "failed", "crashed", "timeout"]
"""
import threading, time
for _ in range(5000): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
