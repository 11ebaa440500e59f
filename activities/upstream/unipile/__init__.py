"""The adapter to Unipile (API v2); the vendor's base URL and a key are all it needs."""

from activities.upstream.unipile.network import UnipileNetwork

__all__ = ["UnipileNetwork"]
