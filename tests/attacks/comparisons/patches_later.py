"""A thread that patches later.
deserves = ["failed", "tampered"]
"""
import threading, time, torch
def later():
    time.sleep(0.02)
    torch.equal = torch.allclose = lambda *a, **k: True
threading.Thread(target=later, daemon=True).start()
