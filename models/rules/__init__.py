"""Pure rules: no I/O, the time is an argument."""
