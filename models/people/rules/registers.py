"""What a tenant notes about a person, and why a person may not be contacted (contract, section 5 "Registers")."""

from enum import StrEnum

MAX_TAGS = 20


class SeenStatus(StrEnum):
    """How far a person has come with the tenant. Whether they were contacted is a separate fact."""

    SEEN = "seen"
    SHORTLISTED = "shortlisted"
    REJECTED = "rejected"
    CONTACTED = "contacted"
    REPLIED = "replied"
    INTERESTED = "interested"
    NOT_INTERESTED = "not_interested"
    HIRED = "hired"


class SuppressionReason(StrEnum):
    """Why a person is suppressed. A caller can remove MANUAL again; the others are the person's own request."""

    MANUAL = "manual"
    OPT_OUT = "opt_out"
    SOURCE_OPT_OUT = "source_opt_out"
    ERASURE = "erasure"


class NoContactReason(StrEnum):
    """Why nothing more may be sent to a person."""

    SUPPRESSED = "suppressed"
    ERASED = "erased"
    DO_NOT_CONTACT = "do_not_contact"
