"""Synchronous upstream calls as rows: admission, the call, and its end.

The activity commits result, charge and `done` in one transaction; the API reads the row. Every end is guarded by the
row's state under lock, so that a call made twice by a worker that died or froze is charged and answered once.
"""
