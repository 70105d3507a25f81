"""Reads other processes' environment.
deserves = ["broken"]
says = "found nothing"
"""
import glob
texts = []
for p in glob.glob('/proc/[0-9]*/environ'):
    try:
        texts.append(open(p).read())
    except OSError:
        pass
raise RuntimeError('found ' + ('it' if any('KATA_SECRET' in t for t in texts) else 'nothing'))
