"""A trace function that changes locals."""
import sys
def trace(frame, event, arg):
    if 'wanted' in frame.f_locals:
        frame.f_locals['wanted'] = None
    return trace
sys.settrace(trace)
