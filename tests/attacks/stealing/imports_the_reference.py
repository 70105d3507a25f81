"""Imports the reference.
deserves = ["broken"]
says = "found nothing"
"""
try:
    from solutions.e01_tensors.merge_heads import merge_heads as theirs
    what = 'it'
except ImportError:
    what = 'nothing'
raise RuntimeError('found ' + what)
