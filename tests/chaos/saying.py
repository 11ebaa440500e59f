"""Telling how far it is, to whoever watches (`-s`)."""

import sys


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
