"""Searches the whole database for traces of a person: every column of every table, after decryption."""

from collections.abc import Mapping

from sqlalchemy import LargeBinary

from models.base.database import Database
from models.base.tables import Row
from models.billing.engine import callbacks
from models.outreach.engine import connect
from models.outreach.store import accounts
from tests.api.conftest import run_sql
from tests.api.people.people import VAULT

TABLES = sorted(Row.metadata.tables)
SEALED: Mapping[tuple[str, str], str] = {
    ("contacts", "sealed"): "contacts/{workspace_id}",
    ("idempotency_records", "body"): "idempotency",
    ("job_inputs", "sealed"): "job",
    ("upstream_calls", "ask"): "upstream_call",
    ("upstream_calls", "result"): "upstream_call",
    ("network_callbacks", "body"): accounts.BODY_PURPOSE,
    ("outreach_accounts", "connect_state"): connect.STATE_PURPOSE,
    ("outreach_accounts", "connect_url"): connect.LINK_PURPOSE,
    ("payment_callbacks", "body"): callbacks.BODY_PURPOSE,
}
"""Encrypted columns that may name people, with the purpose of each encryption."""
OPAQUE = {
    ("api_keys", "previous_hash"),
    ("api_keys", "secret_hash"),
    ("idempotency_records", "fingerprint"),
    ("job_inputs", "url_hash"),
    ("mails", "secret"),
    ("oauth_clients", "network"),
    ("oauth_clients", "secret_hash"),
    ("oauth_sign_ins", "browser_hash"),
    ("oauth_sign_ins", "code_hash"),
    ("oauth_sign_ins", "link_hash"),
    ("oauth_tokens", "token_hash"),
    ("network_endpoints", "previous_secret"),
    ("network_endpoints", "secret"),
    ("outreach_accounts", "state_hash"),
    ("payments", "use_fingerprint"),
    ("person_keys", "hash"),
    ("signup_counts", "network"),
    ("suppressions", "key_hash"),
    ("upstream_calls", "fingerprint"),
    ("verifications", "token_hash"),
    ("webhook_endpoints", "secret"),
}
"""Other binary columns: keyed hashes, and secrets of accounts."""


def binary_columns() -> set[tuple[str, str]]:
    return {
        (table.name, column.name)
        for table in Row.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, LargeBinary)
    }


async def traces(database: Database, *needles: str) -> list[str]:
    """Return every table that contains one of the texts in any column, encrypted or not."""
    every = " union all ".join(
        f"select '{table}' where exists (select 1 from {table} t where t::text ilike any(:needles))" for table in TABLES
    )
    found = [table for (table,) in await run_sql(database, every, needles=[f"%{needle}%" for needle in needles])]
    for (table, column), purpose in SEALED.items():
        rows = await run_sql(
            database,
            f"select to_jsonb(t) ->> 'workspace_id', {column} from {table} t where {column} is not null",
        )
        opened = [VAULT.open(purpose.format(workspace_id=owner), sealed).decode() for owner, sealed in rows]
        found += [f"{table}.{column}"] * any(needle.lower() in each.lower() for each in opened for needle in needles)
    return found
