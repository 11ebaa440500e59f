"""The sandbox's state across restarts, in one SQLite file: mails, calls, settings, states of people, faults."""

import sqlite3
from pathlib import Path

_SCHEMA = """
create table if not exists settings (name text primary key, value real not null);
create table if not exists mails (id integer primary key, body text not null);
create table if not exists calls (
    id integer primary key, provider text not null, at text not null, operation text not null,
    api_key text not null, status integer, credits integer not null, duration_ms real not null);
create index if not exists calls_by_operation on calls (provider, operation);
create table if not exists fates (person_id text primary key, body text not null);
create table if not exists faults (id integer primary key, body text not null);
"""


class State:
    """The open file; every change is written immediately, so that a killed process loses nothing."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        # One event loop uses the file, which may run in another thread than the one that opened it.
        self.database = sqlite3.connect(directory / "sandbox.sqlite", isolation_level=None, check_same_thread=False)
        self.database.execute("pragma journal_mode = wal")
        # The file survives a killed process; only a power cut could lose the last writes, which is acceptable here.
        self.database.execute("pragma synchronous = off")
        self.database.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def number(self, name: str, default: float = 0) -> float:
        """Return a stored number."""
        row = self.database.execute("select value from settings where name = ?", (name,)).fetchone()
        return default if row is None else float(row[0])

    def remember(self, name: str, value: float) -> None:
        """Store a number across restarts."""
        self.database.execute("insert or replace into settings values (?, ?)", (name, value))
