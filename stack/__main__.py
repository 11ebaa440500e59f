"""`python -m stack`: the command line."""

import argparse
import os
import sys
from pathlib import Path

from stack import commands
from stack.children import PROJECT, StartFailed
from stack.compose import UnusableComposeFile
from stack.installation import DEFAULT_POPULATION, DEFAULT_SEED, Installation, StackError
from stack.ports import NoFreePort
from stack.processes import NAMES
from stack.supervisor import say

DEFAULT_DIRECTORY = Path(".stack")
DEFAULT_LOG_LINES = 100
EXAMPLE = PROJECT / "examples" / "senior-data-engineer-ghent.md"

ABOUT = """\
The whole installation on one machine, with nothing to install by hand: PostgreSQL, Temporal with its UI, the
sandbox (an invented labour market), api, worker and upstream worker. Everything is kept in one data directory,
survives a restart and is stopped by `down`. Linux only.

If started by root, PostgreSQL runs as the system user embedded_postgres. The user is created if it is missing, and
gets permission to traverse (o+x), not to list, the directories above the data directory."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m stack", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    named = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    up = _command(named, "up", "start everything; runs until Ctrl-C, or in the background with --detach")
    up.add_argument("--detach", action="store_true", help="return when all is ready; `down` stops it")
    _market(up)
    _json(up, "also write the answer to FILE: addresses, a key of a verified workspace, process ids")

    _command(named, "down", "stop everything and leave no process behind; the data stays")

    status = _command(named, "status", "show which processes run; exit code 1 if one is dead, 3 if none runs")
    _json(status, "also write addresses and process ids to FILE (null for a dead process); without FILE, print them")

    _command(named, "reset", "stop everything and remove all data of the installation")

    logs = _command(named, "logs", "show the end of the log of one process, or of all")
    logs.add_argument("process", nargs="?", metavar="PROCESS", help=f"one of {', '.join(NAMES)}, migrate, stack")
    logs.add_argument("--lines", type=int, default=DEFAULT_LOG_LINES, help="how many lines (default: %(default)s)")
    logs.add_argument("--follow", action="store_true", help="keep showing what the process writes")

    for name, text in (
        ("restart", "stop one process gracefully and start it again with the same environment"),
        ("kill", "SIGKILL one process; only `restart` starts it again"),
    ):
        one = _command(named, name, text)
        one.add_argument("process", choices=NAMES, metavar="PROCESS", help=f"one of {', '.join(NAMES)}")

    _command(named, "now", "print service time: the current time of the business rules")

    advance = _command(named, "advance", "let service time pass, with everything due in it (needs --virtual-time)")
    how_far = advance.add_mutually_exclusive_group(required=True)
    how_far.add_argument("duration", nargs="?", metavar="DURATION", help="such as 3d, 12h, 90m, 1d12h")
    how_far.add_argument("--until", metavar="TIME", help="such as 2027-01-04T08:00:00Z")

    demo = _command(named, "demo", "the main job in the terminal: from a job description to candidates")
    demo.add_argument(
        "file",
        nargs="?",
        type=Path,
        default=EXAMPLE,
        metavar="JOB_DESCRIPTION",
        help="a text or Markdown file (default: the one in examples/)",
    )
    demo.add_argument("--exit", action="store_true", help="stop everything when the candidates are shown")
    _market(demo)
    return made


def main() -> int:
    """Run one command and return the exit code."""
    asked = parser().parse_args()
    os.umask(0o077)  # keys, logs and data are for this user alone
    try:
        return _run(asked)
    except (StackError, StartFailed, NoFreePort, UnusableComposeFile) as problem:
        say(f"{commands.PROBLEM}{problem}")
        return 1
    except KeyboardInterrupt:
        return 130


def _run(asked: argparse.Namespace) -> int:
    installation = Installation(asked.data_dir)
    match asked.command:
        case "up" if asked.detach:
            commands.up_detached(installation, _wishes(asked), asked.json)
        case "up":
            commands.up(installation, _wishes(asked), asked.json)
        case "down":
            commands.down(installation)
        case "status":
            return commands.status(installation, asked.json)
        case "reset":
            commands.reset(installation)
        case "logs":
            commands.logs(installation, asked.process, lines=asked.lines, follow=asked.follow)
        case "restart":
            commands.restart(installation, asked.process)
        case "kill":
            commands.kill(installation, asked.process)
        case "demo":
            from stack.demo import demo

            demo(installation, _wishes(asked), asked.file.absolute(), stay=not asked.exit)
        case _:
            _time(installation, asked)
    return 0


def _time(installation: Installation, asked: argparse.Namespace) -> None:
    from stack.virtual_time import advance, show_now

    if asked.command == "now":
        show_now(installation)
    else:
        advance(installation, duration=asked.duration, until=asked.until)


def _wishes(asked: argparse.Namespace) -> commands.Wishes:
    return commands.Wishes(asked.population, asked.seed, asked.virtual_time)


def _command(
    named: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str
) -> argparse.ArgumentParser:
    made = named.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    made.add_argument(
        "--data-dir",
        type=Path,
        default=DEFAULT_DIRECTORY,
        metavar="DIR",
        help="data directory of the installation (default: %(default)s)",
    )
    return made


def _market(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--population", type=int, help=f"people in the invented market (default: {DEFAULT_POPULATION})"
    )
    command.add_argument("--seed", type=int, help=f"seed of the invented market (default: {DEFAULT_SEED})")
    command.add_argument(
        "--virtual-time", action="store_true", help="let `advance` move service time; stays on for this data directory"
    )


def _json(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("--json", type=Path, nargs="?", const=commands.JSON_ON_STDOUT, metavar="FILE", help=text)


if __name__ == "__main__":
    sys.exit(main())
