"""Progress on standard output, visible with `-s`."""

import sys


def report(line: str) -> None:
    """Print one line without buffering."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
