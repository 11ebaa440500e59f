"""The usual mix of calls by sixteen concurrent clients, on small and on large data."""
