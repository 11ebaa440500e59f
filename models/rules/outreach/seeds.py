"""Seeds: the repeatable chance in gaps, shifts and jitter, so that preview and execution give the same times."""

import hashlib

_RANGE = float(1 << 64)


def unit(seed: str) -> float:
    """A number in [0, 1) that depends on the text alone: the first 8 bytes of its SHA-256 as a fraction of 2^64."""
    first = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    return min(first / _RANGE, 1 - 2**-53)  # a double may round the last few up to 1


def action_seed(account_id: str, person_key: str, step: str, earlier: int) -> str:
    """The seed stored on an action.

    `person_key` is the hash of the canonical profile URL, `step` the step's id or, of a direct send, its type,
    `earlier` the number of earlier actions to that person.
    """
    return f"{account_id}:{person_key}:{step}:{earlier}"
