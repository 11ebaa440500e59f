"""How a call to a professional network can fail: a small closed set (reference, sections 10, 11 and 14).

    NetworkError
    ├── NetworkBusy           busy or out of reach; ask again later
    ├── NetworkNotConfigured  ours to put right: no provider, key refused, contract inactive
    ├── LimitReached          the network or the provider says: slower
    ├── AccountTrouble        the account cannot act now
    ├── PersonRefused         not with this person; go on with the next
    ├── AskRefused            what we sent is refused: our defect
    ├── FeatureMissing        the provider cannot do this
    ├── AlreadyDone           the network says that it is so already: read the person before recording it
    └── OutcomeUnknown        a write may have been executed: read back, never repeat blindly

All but `OutcomeUnknown` mean that the call was not executed; `read_back` is true where the provider leaves a doubt,
so that one reading is due before the action is planned again. Messages carry no personal data.
"""

from enum import StrEnum


class NetworkError(Exception):
    """A call failed. `code` is a short word for logs and `why`; `read_back`: see the module."""

    def __init__(self, code: str, *, read_back: bool = False) -> None:
        super().__init__(code)
        self.code = code
        self.read_back = read_back


class NetworkBusy(NetworkError):
    """Nothing was executed: repeat it later, after `retry_after` seconds where the provider said so."""

    def __init__(self, code: str, *, retry_after: float | None = None) -> None:
        super().__init__(code)
        self.retry_after = retry_after


class NetworkNotConfigured(NetworkError):
    """No provider is configured, or it refuses our key or contract. No account is to blame: stop all calls, alert.

    Callers see `upstream_busy` (503), and `account_connect_unavailable` when connecting.
    """


class Limit(StrEnum):
    """Whose limit was reached, and how long it holds."""

    METHOD = "method"  # the provider's own limiter: only this kind of call of this account waits `retry_after`
    DAILY = "daily"  # the network's: the account pauses until the next UTC midnight
    WEEKLY = "weekly"  # the network's: the account pauses until the next Monday 00:00 UTC


class LimitReached(NetworkError):
    """Too many calls. `retry_after` is in seconds, always given for `METHOD`, else only a hint or null.

    A second daily limit within a week, or our own weekly count at 90 %, makes a daily one weekly (section 11, rule 3):
    that is the caller's to decide, who knows the counters.
    """

    def __init__(self, limit: Limit, code: str, *, retry_after: float | None = None, read_back: bool = False) -> None:
        super().__init__(code, read_back=read_back)
        self.limit = limit
        self.retry_after = retry_after


class Trouble(StrEnum):
    """What is wrong with an account."""

    DISCONNECTED = "disconnected"  # also: the provider no longer has it. Held until the owner reconnects
    RESTRICTED = "restricted"  # held until the owner has looked at it
    INTERRUPTED = "interrupted"  # passes by itself: hold, ask for the account every five minutes
    NOT_READY = "not_ready"  # still connecting


class AccountTrouble(NetworkError):
    """The account cannot act now; nothing was executed."""

    def __init__(self, trouble: Trouble, code: str) -> None:
        super().__init__(code)
        self.trouble = trouble


class PersonRefusal(StrEnum):
    """Why not with this person. The values are the reasons an action shows."""

    NOT_FOUND = "not_found"
    NOT_ALLOWED = "not_allowed"  # the network does not let this account do this with that person
    NOT_CONNECTED = "not_connected"  # a message to a person who is not connected
    READ_ONLY = "read_only"  # the chat takes no messages
    NO_VISIT = "no_visit"
    REFUSED = "refused"  # without a reason


class PersonRefused(NetworkError):
    """Refused for this person alone: no repeat, no effect on the account."""

    def __init__(self, reason: PersonRefusal, code: str) -> None:
        super().__init__(code)
        self.reason = reason


class AskRefused(NetworkError):
    """What we sent was refused as invalid: a defect of ours. The action fails, no repeat, alert on the rate."""


class FeatureMissing(NetworkError):
    """The provider does not offer this call: skip the step, alert once."""


class Already(StrEnum):
    """What the network says is so already."""

    CONNECTED = "connected"
    INVITED = "invited"  # pending, or invited or withdrawn recently: when not pending, not before 21 days
    GONE = "gone"  # the invite to withdraw is pending no longer: accepted when connected, else done
    UNCLEAR = "unclear"  # a conflict without a reason


class AlreadyDone(NetworkError):
    """Refused because it seems done. One reading of the person decides: done, or refused for this person.

    `INVITED` for three different people in a row within one hour is the daily limit (section 11, rule 4): that is
    the caller's to count.
    """

    def __init__(self, already: Already, code: str) -> None:
        super().__init__(code, read_back=True)
        self.already = already


class OutcomeUnknown(NetworkError):
    """A write was sent and its answer is missing or unreadable: it may have been executed (section 10).

    `interrupted`: the answer also says that the account is interrupted.
    """

    def __init__(self, code: str, *, interrupted: bool = False) -> None:
        super().__init__(code, read_back=True)
        self.interrupted = interrupted
