"""Why a person is suppressed (contract, section 5 "Registers")."""

from enum import StrEnum


class Reason(StrEnum):
    """MANUAL was written by a caller and can be removed; the others are the person's own will and stay."""

    MANUAL = "manual"
    OPT_OUT = "opt_out"
    SOURCE_OPT_OUT = "source_opt_out"
    ERASURE = "erasure"
