"""The contenders, one a file; each runs in a process of its own, started by `contest.py`."""
