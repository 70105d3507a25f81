"""Grading on a cluster: the workers of a Dask scheduler judge, the verdicts stay here.

`parent` hands out answers and takes back transcripts, `worker` is what runs there, `facts` is what both
must have in common, `plain` keeps what arrives from being more than data.
"""
