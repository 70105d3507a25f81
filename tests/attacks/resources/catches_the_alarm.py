"""A loop that catches the alarm.
deserves = ["timeout"]
"""
def merge_heads(x):
    while True:
        try:
            while True: pass
        except BaseException:
            pass
