"""`python -m benchmarks.outreach [preview] [asleep] [life]`: the cost of outreach, each part beside its floor."""

import argparse
import sys

from benchmarks.outreach import asleep, life, preview

PARTS = ("preview", "asleep", "life")


def main() -> int:
    """Measure the given parts, by default all, and return 0 if their aims are met, else 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outreach", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="of previews")
    parser.add_argument("--enrollments", type=int, default=10_000, help="number of idle enrollments")
    parser.add_argument("--seconds", type=int, default=60, help="seconds for which the idle enrollments are observed")
    asked = parser.parse_args()
    unknown = sorted(set(asked.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {unknown[0]}")
    parts = asked.parts or PARTS
    met = True
    if "preview" in parts:
        met &= preview.report(asked.rounds)
    if "asleep" in parts:
        asleep.report(asked.enrollments, asked.seconds)
    if "life" in parts:
        met &= life.report()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
