"""`python -m tests.architecture`: the figures of the code base; with `--list CHECK`, the offenders of one check."""

import argparse

from tests.architecture import flows
from tests.architecture.names import CEILINGS, CHECKS

parser = argparse.ArgumentParser(prog="python -m tests.architecture", description=__doc__)
parser.add_argument("--list", choices=[*CHECKS, *flows.FLOWS], metavar="CHECK", help="list what a check or flow counts")
asked = parser.parse_args()
if asked.list in CHECKS:
    print(*CHECKS[asked.list](), sep="\n")  # noqa: T201 - the answer of a command
elif asked.list is not None:
    print(flows.listing(asked.list))  # noqa: T201 - the answer of a command
else:
    figures = [f"{name:<24}{len(check()):>8}{CEILINGS[name]:>20}" for name, check in CHECKS.items()]
    print(flows.table(), "", *figures, sep="\n")  # noqa: T201 - the answer of a command
