"""`python -m models.migrations upgrade`: bring the database at DATABASE_URL to the newest version."""

import argparse
import os
from pathlib import Path

from alembic import command
from alembic.config import Config


def config(url: str) -> Config:
    """Alembic's configuration for one database."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent))
    made.attributes["url"] = url
    return made


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m models.migrations", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    upgrade = actions.add_parser("upgrade", help="migrate to a revision (default: the newest)")
    upgrade.add_argument("revision", nargs="?", default="head")
    downgrade = actions.add_parser("downgrade", help="go back to a revision")
    downgrade.add_argument("revision")
    revise = actions.add_parser("revision", help="draft a migration from the tables")
    revise.add_argument("-m", "--message", required=True)
    actions.add_parser("check", help="fail when the tables and the migrations differ")
    asked = parser.parse_args()
    alembic = config(os.environ["DATABASE_URL"])
    match asked.action:
        case "upgrade":
            command.upgrade(alembic, asked.revision)
        case "downgrade":
            command.downgrade(alembic, asked.revision)
        case "revision":
            command.revision(alembic, message=asked.message, autogenerate=True)
        case _:
            command.check(alembic)


if __name__ == "__main__":
    main()
