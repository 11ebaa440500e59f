"""The usual mix of calls, by sixteen clients at once, over little data and over much."""
