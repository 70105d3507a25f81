"""An endless loop at import.
deserves = ["timeout"]
"""
while True: pass
