"""Measurements that print a table: `python -m benchmarks.<name>`."""
