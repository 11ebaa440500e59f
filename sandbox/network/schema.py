"""The network side's tables in the sandbox's SQLite file, and the ids that it assigns."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.people.population.draws import mixed
from sandbox.state import State

_SCHEMA = """
create table if not exists network_links (token text primary key, body text not null);
create table if not exists network_accounts (id text primary key, owner integer not null, body text not null);
create table if not exists network_relations (
    owner integer not null, person integer not null, state text not null, body text not null,
    primary key (owner, person));
create table if not exists network_chats (
    id text primary key, owner integer not null, person integer not null, body text not null,
    unique (owner, person));
create table if not exists network_messages (
    seq integer primary key, id text not null unique, chat_id text not null, body text not null);
create index if not exists network_messages_by_chat on network_messages (chat_id, seq);
create table if not exists network_log (
    seq integer primary key, owner integer not null, kind text not null, body text not null);
create table if not exists network_endpoints (id text primary key, body text not null);
create table if not exists network_conversations (seq integer primary key, endpoint_id text not null,
    body text not null);
create table if not exists network_happenings (
    id integer primary key, due text not null, kind text not null, body text not null);
create index if not exists network_happenings_by_due on network_happenings (due);
create table if not exists network_cache (
    key text primary key, account_id text not null, operation text not null, person integer, at text not null,
    body text not null);
"""
TABLES = (
    *("network_links", "network_accounts", "network_relations", "network_chats", "network_messages", "network_log"),
    *("network_endpoints", "network_conversations", "network_happenings", "network_cache"),
)


def open_tables(state: State) -> None:
    """Create the tables."""
    state.database.executescript(_SCHEMA)


def forget_all(state: State) -> None:
    """Empty all tables."""
    for table in TABLES:
        state.database.execute(f"delete from {table}")  # noqa: S608 - names of the list above


@contextmanager
def at_once(state: State) -> Iterator[None]:
    """Run the block in one transaction: all its writes survive a killed process, or none."""
    state.database.execute("begin immediate")
    try:
        yield
    except BaseException:
        state.database.execute("rollback")
        raise
    state.database.execute("commit")


class Ids:
    """Ids in the formats of the provider and the network; one counter makes them unique."""

    def __init__(self, state: State) -> None:
        self._state = state

    def _word(self) -> int:
        number = int(self._state.number("network_ids")) + 1
        self._state.remember("network_ids", number)
        return mixed(number)

    def plain(self, prefix: str) -> str:
        """Return an id of the provider: a prefix and 32 hex digits."""
        return f"{prefix}_{self._word():016x}{self._word():016x}"

    def awkward(self, prefix: str) -> str:
        """Return an id of the network, with `/`, `+`, `=` and `:` like some real ones."""
        word = base64.b64encode(self._word().to_bytes(8, "big") + b"\xfb\xff").decode()
        return f"{prefix}:{word}/+=="

    def secret(self) -> str:
        """Return the secret of an endpoint: 36 characters."""
        return f"wes_{self._word():016x}{self._word():016x}"
