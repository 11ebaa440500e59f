"""People: identity, the installation-wide profile cache, the seen register, suppressions."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary
from sqlmodel import Field

from models.tables.base import JSON, TEXTS, TIME, OwnedRow, Payload, Row


class Person(Row, table=True):
    """One person. `alias_of` points to the older id when two were found to be one."""

    __tablename__ = "people"

    id: str = Field(primary_key=True)
    alias_of: str | None = Field(default=None, foreign_key="people.id")
    created_at: datetime = Field(sa_type=TIME)


class PersonKey(Row, table=True):
    """What identifies a person: the source's id or the canonical profile URL. `hash` is keyed and outlives erasure."""

    __tablename__ = "person_keys"
    __table_args__ = (
        Index("ix_person_keys_profile_id", "profile_id"),
        CheckConstraint("kind in ('source', 'url')", name="kind"),
    )

    hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    profile_id: str = Field(foreign_key="people.id")
    kind: str
    source: str | None = None
    value: str
    """The source's id, or the canonical profile URL."""


class CachedProfile(Row, table=True):
    """A full profile as last fetched. Installation-wide, 30 days."""

    __tablename__ = "cached_profiles"
    __table_args__ = (Index("ix_cached_profiles_fetched_at", "fetched_at"),)

    profile_id: str = Field(primary_key=True, foreign_key="people.id")
    source: str
    content: Payload = Field(sa_type=JSON)
    fetched_at: datetime = Field(sa_type=TIME)


class SeenEntry(OwnedRow, table=True):
    """A person in a tenant's seen register. `contacted_at` and `do_not_contact` are facts apart from `status`."""

    __tablename__ = "seen_entries"
    __table_args__ = (
        Index("ix_seen_entries_tenant_id_created_at", "tenant_id", "created_at", "profile_id"),
        Index("ix_seen_entries_profile_id", "profile_id"),
        CheckConstraint(
            "status in ('seen', 'shortlisted', 'rejected', 'contacted', 'replied', 'interested', 'not_interested',"
            " 'hired')",
            name="status",
        ),
    )

    tenant_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True, foreign_key="people.id")
    status: str = "seen"
    do_not_contact: bool = False
    tags: list[str] = Field(default_factory=list, sa_type=TEXTS)
    note: str | None = None
    first_seen_at: datetime | None = Field(default=None, sa_type=TIME)
    contacted_at: datetime | None = Field(default=None, sa_type=TIME)
    last_contacted_at: datetime | None = Field(default=None, sa_type=TIME)
    run_ids: list[str] = Field(default_factory=list, sa_type=TEXTS)
    created_at: datetime = Field(sa_type=TIME)


class Suppression(Row, table=True):
    """A person nobody may fetch, be charged for or contact, by the keyed hash of a person key.

    `workspace_id` null binds the installation; `tenant_id` null with a workspace binds the account and all customers.
    """

    __tablename__ = "suppressions"
    __table_args__ = (
        Index("ix_suppressions_key_hash", "key_hash"),
        Index("ix_suppressions_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        CheckConstraint("reason in ('manual', 'opt_out', 'source_opt_out', 'erasure')", name="reason"),
    )

    id: str = Field(primary_key=True)
    workspace_id: str | None = None
    customer_id: str | None = None
    key_hash: bytes = Field(sa_type=LargeBinary)
    profile_id: str | None = None
    reason: str
    created_at: datetime = Field(sa_type=TIME)
