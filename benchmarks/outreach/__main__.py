"""`python -m benchmarks.outreach [preview] [asleep] [life]`: what outreach costs, each part beside its floor."""

import argparse
import sys

from benchmarks.outreach import asleep, life, preview

PARTS = ("preview", "asleep", "life")


def main() -> int:
    """Measure the parts asked for, all by default, and say whether their aims are met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outreach", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="of previews")
    parser.add_argument("--enrollments", type=int, default=10_000, help="how many sleep")
    parser.add_argument("--seconds", type=int, default=60, help="for how long the sleeping ones are watched")
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
