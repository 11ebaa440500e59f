"""`python -m tests.architecture.flows`: the number of files and functions of the product that a flow goes through.

A flow begins at a public name (an operation, a path, the stored name of a workflow or step) and follows every static
call (`tests.architecture.calls`). It follows only those names of registries that it lists: once a visited function
names a listed step or workflow, its functions are visited too; a workflow leads to the step of its name with `.next`,
which its loop asks. So an emitted event leads to a webhook only in the flow about webhooks.

A file counts if the body of one of its functions is visited; files with only constants, tables and types do not. Code
that the framework runs around a route (middleware, validation) is not called by the product and is not followed.
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.architecture.calls import Calls
from tests.architecture.source import ROOT, Function, product_of


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow, which begins at its first name and goes through the others.

    Each is a public name, or, where there is none, the name of a function (`Class.method`).
    """

    title: str
    begins: str
    through: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    """Names at which it continues without a call: another process, or a provider, starts them."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The functions of one flow, and its names that were not reached."""

    functions: frozenset[Function]
    missed: frozenset[str]

    @property
    def files(self) -> dict[Path, list[Function]]:
        """The functions by file."""
        found: dict[Path, list[Function]] = defaultdict(list)
        for function in self.functions:
            found[function.module.path].append(function)
        return dict(sorted(found.items()))


SERVED = ("OperationRoute.answer",)
"""How HTTP reaches an operation: the route is generated from it, so no call leads from one to the other."""

FLOWS = {
    "send": Flow("one send", "enrollment", ("enrollment.next", "outreach.send")),
    "webhook": Flow(
        "job text to webhook",
        "runs.start",
        ("run", "run.next", "run.read_page", "run.fetch_profiles", "delivery.next", "delivery.attempt"),
        apart=(*SERVED, "Dispatcher.run", "delivery"),
    ),
    "grant": Flow(
        "checkout to grant",
        "billing.checkout",
        ("payment", "payment.next", "payment.call", "callback", "callback.next"),
        apart=(*SERVED, "/callbacks/payments", "Dispatcher.run"),
    ),
    "erasure": Flow("erasure", "erasures.create", apart=SERVED),
    "request": Flow("an idempotent request", "runs.extend", apart=SERVED),
}

WANTED = {"send": 25, "webhook": 70, "grant": 25, "erasure": 18, "request": 14}
LIMITS = {"send": 25, "webhook": 79, "grant": 24, "erasure": 17, "request": 14}


@cache
def calls_of(root: Path) -> Calls:
    """Return the calls of the product below a folder, read once."""
    return Calls(product_of(root))


def named(calls: Calls, name: str) -> list[Function]:
    """Return the functions with a public name, else those of that name. Raises `LookupError` if there is none."""
    found = calls.by_public_name.get(name) or [one for one in calls.product.functions() if one.name == name]
    if not found:
        raise LookupError(f"{name!r} is neither a public name of the product nor a function of it")
    return found


def walk(calls: Calls, flow: Flow) -> Walk:
    """Follow a flow."""
    through = {name: named(calls, name) for name in flow.through}
    ahead = []
    for name in (flow.begins, *flow.apart):
        ahead += named(calls, name) + through.pop(f"{name}.next", [])
    walked: set[Function] = set()
    while ahead:
        function = ahead.pop()
        if function in walked:
            continue
        walked.add(function)
        ahead += calls.called_by(function)
        for name in calls.strings_in(function) & through.keys():
            ahead += through.pop(name) + through.pop(f"{name}.next", [])
    return Walk(frozenset(walked), frozenset(through))


def table(root: Path = ROOT) -> str:
    """Return the figures of every flow."""
    lines = [f"{'flow':<24}{'files':>8}{'functions':>12}{'limit':>8}{'wanted':>8}"]
    for key, flow in FLOWS.items():
        found = walk(calls_of(root), flow)
        figures = f"{len(found.files):>8}{len(found.functions):>12}{LIMITS[key]:>8}{WANTED[key]:>8}"
        lines.append(f"{flow.title:<24}{figures}")
    return "\n".join(lines)


def listing(key: str, root: Path = ROOT) -> str:
    """Return the files of one flow, with the number of their functions in it and of those functions' lines."""
    lines = [f"{'functions':>9}{'lines':>7}{'of':>6}  {FLOWS[key].title}"]
    for path, functions in walk(calls_of(root), FLOWS[key]).files.items():
        length = sum((one.node.end_lineno or one.node.lineno) - one.node.lineno + 1 for one in functions)
        whole = functions[0].module.text.count("\n")
        names = ", ".join(one.name for one in sorted(functions, key=lambda one: one.node.lineno))
        lines.append(f"{len(functions):>9}{length:>7}{whole:>6}  {path}: {names}")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.architecture.flows", description=__doc__)
    parser.add_argument("--list", choices=FLOWS, metavar="FLOW", help=f"list the files of one: {', '.join(FLOWS)}")
    asked = parser.parse_args()
    print(table() if asked.list is None else listing(asked.list))  # noqa: T201 - the answer of a command
