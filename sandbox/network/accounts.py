"""Connected accounts: the status of each, and the calls that the provider refuses because of it."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from sandbox.clock import Clock, rfc3339
from sandbox.network.people import Members
from sandbox.network.schema import Ids
from sandbox.network.wire import ApiError, Json
from sandbox.state import State

DAILY_TEXT = "Temporary provider limit reached."
WEEKLY_TEXT = "You have reached the weekly invitation limit."


class Status(StrEnum):
    """The provider's names of account statuses."""

    RUNNING = "running"
    DISCONNECTED = "disconnected"
    ERRORED = "errored"
    DEGRADED = "degraded"
    PARTIAL = "partial"
    PAUSED = "paused"


class Account(BaseModel):
    """One account; `limit` is the network's limit on it until `limit_until`."""

    model_config = ConfigDict(frozen=True)

    id: str
    owner: int
    created_at: datetime
    status: Status = Status.RUNNING
    classic: Literal["running", "disconnected"] = "running"
    is_locked: bool = False
    synchronised: bool = False
    limit: Literal["daily", "weekly"] | None = None
    limit_until: datetime | None = None
    neutral: bool = False
    """Whether refusals hide which limit it is."""


class Accounts:
    """All accounts that exist at the provider."""

    def __init__(self, state: State, clock: Clock, ids: Ids, members: Members) -> None:
        self._state, self._clock, self._ids, self._members = state, clock, ids, members

    def add(self, owner: int) -> Account:
        """Connect an owner, before the first synchronisation."""
        account = Account(id=self._ids.plain("acc"), owner=owner, created_at=self._clock.now())
        self.write(account)
        return account

    def write(self, account: Account) -> None:
        """Store the current state of an account."""
        self._state.database.execute(
            "insert or replace into network_accounts values (?, ?, ?)",
            (account.id, account.owner, account.model_dump_json()),
        )

    def remove(self, account_id: str) -> bool:
        """Delete an account; return False when there is none."""
        return self._state.database.execute("delete from network_accounts where id = ?", (account_id,)).rowcount > 0

    def all(self) -> list[Account]:
        """Return all accounts, oldest first."""
        rows = self._state.database.execute("select body from network_accounts order by rowid").fetchall()
        return [Account.model_validate_json(body) for (body,) in rows]

    def get(self, account_id: str) -> Account | None:
        """Return an account, or None when the provider does not have it."""
        row = self._state.database.execute("select body from network_accounts where id = ?", (account_id,)).fetchone()
        return None if row is None else Account.model_validate_json(row[0])

    def of_owner(self, owner: int) -> Account | None:
        """Return the latest account of an owner."""
        return next((account for account in reversed(self.all()) if account.owner == owner), None)

    def usable(self, account_id: str) -> Account:
        """Return an account that can act.

        Raises:
            ApiError: the account is deleted, has to be reconnected, or is blocked.
        """
        account = self.get(account_id)
        if account is None:
            raise ApiError("api/resource_not_found", "there is no such account")
        if account.is_locked:
            raise ApiError("api/account_restricted", "this account is locked")
        if account.status is Status.DISCONNECTED:
            raise ApiError("provider/invalid_authorization", "this account has to be connected again")
        if account.status is Status.PAUSED:
            raise ApiError("api/inactive_subscription", "the subscription of this application is not active")
        if account.status is Status.ERRORED or account.classic != "running":
            raise ApiError("api/proxy_error", "the account cannot be reached at present")
        return account

    def check_limit(self, account: Account) -> None:
        """Refuse an invite while a limit of the network applies to the account."""
        if account.limit is None or account.limit_until is None or account.limit_until <= self._clock.now():
            return
        weekly = account.limit == "weekly" and not account.neutral
        raise ApiError("provider/unprocessable_entity", WEEKLY_TEXT if weekly else DAILY_TEXT)

    def limited(self, account: Account, limit: Literal["daily", "weekly"], *, neutral: bool = False) -> Account:
        """Return the account with a limit until the next UTC midnight, or Monday."""
        until = limit_end(self._clock.now(), limit)
        return account.model_copy(update={"limit": limit, "limit_until": until, "neutral": neutral})

    def shown(self, account: Account) -> Json:
        """Return an account in the provider's format."""
        owner = self._members.member(account.owner)
        return {
            "object": "Account",
            "id": account.id,
            "application_id": "app_sandbox",
            "user_id": owner.id,
            "name": owner.display_name,
            "provider": "linkedin",
            "status": account.status.value,
            "is_locked": account.is_locked,
            "created_at": rfc3339(account.created_at),
            "metadata": {"products_connection_status": {"classic": account.classic}},
            "initial_sync": {"status": "completed" if account.synchronised else "running"},
        }


def limit_end(now: datetime, limit: Literal["daily", "weekly"]) -> datetime:
    """Return the next UTC midnight, or the next Monday 00:00 UTC."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    if limit == "daily":
        return midnight
    return midnight + timedelta(days=(7 - midnight.weekday()) % 7)
