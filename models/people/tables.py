"""People: identity, the installation-wide profile cache, the seen register, lists, suppressions, erasures."""

from datetime import datetime

from sqlalchemy import Index, LargeBinary, text
from sqlmodel import Field

from models.base.tables import JSON, TEXTS, TIME, OwnedRow, Payload, Row, one_of
from models.people.rules.identity import PersonKeyKind
from models.people.rules.registers import SeenStatus, SuppressionReason


class Person(Row, table=True):
    """One person. `alias_of` points to the older id when two ids were found to be one person."""

    __tablename__ = "people"
    __table_args__ = (Index("ix_people_alias_of", "alias_of", postgresql_where=text("alias_of is not null")),)

    id: str = Field(primary_key=True)
    alias_of: str | None = Field(default=None, foreign_key="people.id")
    created_at: datetime = Field(sa_type=TIME)


class PersonKey(Row, table=True):
    """What identifies a person: the source's id, the canonical profile URL or an e-mail address.

    `hash` is keyed and outlives erasure; `value` is null once the person is erased, and always for an address.
    """

    __tablename__ = "person_keys"
    __table_args__ = (
        Index("ix_person_keys_profile_id", "profile_id"),
        one_of("kind", PersonKeyKind),
    )

    hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    profile_id: str = Field(foreign_key="people.id")
    kind: str
    source: str | None = None
    value: str | None = None
    """The source's id, or the canonical profile URL."""


class CachedProfile(Row, table=True):
    """A full profile as last fetched, kept for 30 days and shared by the installation."""

    __tablename__ = "cached_profiles"
    __table_args__ = (Index("ix_cached_profiles_fetched_at", "fetched_at"),)

    profile_id: str = Field(primary_key=True, foreign_key="people.id")
    source: str
    content: Payload = Field(sa_type=JSON)
    fetched_at: datetime = Field(sa_type=TIME)


class ProfileCopy(OwnedRow, table=True):
    """A tenant's right to read the cached profile, for as long as it is cached."""

    __tablename__ = "profile_copies"
    __table_args__ = (Index("ix_profile_copies_profile_id", "profile_id"),)

    tenant_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True, foreign_key="cached_profiles.profile_id", ondelete="CASCADE")
    created_at: datetime = Field(sa_type=TIME)


class SeenEntry(OwnedRow, table=True):
    """A person in a tenant's seen register. `contacted_at` and `do_not_contact` are independent of `status`."""

    __tablename__ = "seen_entries"
    __table_args__ = (
        Index("ix_seen_entries_tenant_id_created_at", "tenant_id", "created_at", "profile_id"),
        Index("ix_seen_entries_tenant_id_status", "tenant_id", "status", "created_at", "profile_id"),
        Index(
            "ix_seen_entries_contacted",
            *("tenant_id", "created_at", "profile_id"),
            postgresql_where=text("contacted_at is not null"),
        ),
        Index(
            "ix_seen_entries_do_not_contact",
            *("tenant_id", "created_at", "profile_id"),
            postgresql_where=text("do_not_contact"),
        ),
        Index("ix_seen_entries_profile_id", "profile_id"),
        one_of("status", SeenStatus),
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


class PeopleList(OwnedRow, table=True):
    """A named list of people."""

    __tablename__ = "lists"
    __table_args__ = (Index("ix_lists_tenant_id_created_at_id", "tenant_id", "created_at", "id"),)

    id: str = Field(primary_key=True)
    name: str
    description: str | None = None
    created_at: datetime = Field(sa_type=TIME)
    updated_at: datetime = Field(sa_type=TIME)


class ListPerson(OwnedRow, table=True):
    """A person in a list, with the tenant's notes about them."""

    __tablename__ = "list_people"
    __table_args__ = (
        Index("ix_list_people_list_id_created_at_profile_id", "list_id", "created_at", "profile_id"),
        Index("ix_list_people_profile_id", "profile_id"),
        one_of("status", SeenStatus),
    )

    list_id: str = Field(primary_key=True, foreign_key="lists.id", ondelete="CASCADE")
    profile_id: str = Field(primary_key=True, foreign_key="people.id")
    status: str | None = None
    note: str | None = None
    created_at: datetime = Field(sa_type=TIME)
    updated_at: datetime = Field(sa_type=TIME)


class Suppression(Row, table=True):
    """A person who may not be fetched, charged for or contacted, by the keyed hash of a person key.

    Null `workspace_id` binds the installation; null `customer_id` with a workspace binds the account and its customers.
    """

    __tablename__ = "suppressions"
    __table_args__ = (
        Index("ix_suppressions_key_hash", "key_hash"),
        Index("ix_suppressions_profile_id", "profile_id", postgresql_where=text("profile_id is not null")),
        Index("ix_suppressions_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        Index(
            "ix_suppressions_customer_id",
            *("workspace_id", "customer_id", "created_at", "id"),
            postgresql_where=text("customer_id is not null"),
        ),
        one_of("reason", SuppressionReason),
    )

    id: str = Field(primary_key=True)
    workspace_id: str | None = None
    customer_id: str | None = None
    key_hash: bytes = Field(sa_type=LargeBinary)
    profile_id: str | None = None
    reason: str
    created_at: datetime = Field(sa_type=TIME)


class Erasure(Row, table=True):
    """When a person was erased from an account, or from the installation (`workspace_id` null)."""

    __tablename__ = "erasures"

    id: str = Field(primary_key=True)
    workspace_id: str | None = None
    profile_id: str
    created_at: datetime = Field(sa_type=TIME)
