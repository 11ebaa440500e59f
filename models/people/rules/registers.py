"""What a tenant may note about a person (contract, section 5 "Registers")."""

from enum import StrEnum

MAX_TAGS = 20


class SeenStatus(StrEnum):
    """How far somebody is. Whether they were contacted is a fact apart from it."""

    SEEN = "seen"
    SHORTLISTED = "shortlisted"
    REJECTED = "rejected"
    CONTACTED = "contacted"
    REPLIED = "replied"
    INTERESTED = "interested"
    NOT_INTERESTED = "not_interested"
    HIRED = "hired"


# Why a person is suppressed (contract, section 5 "Registers").


class SuppressionReason(StrEnum):
    """MANUAL was written by a caller and can be removed; the others are the person's own will and stay."""

    MANUAL = "manual"
    OPT_OUT = "opt_out"
    SOURCE_OPT_OUT = "source_opt_out"
    ERASURE = "erasure"


class NoContactReason(StrEnum):
    """Why nothing more may be sent to a person."""

    SUPPRESSED = "suppressed"
    ERASED = "erased"
    DO_NOT_CONTACT = "do_not_contact"
