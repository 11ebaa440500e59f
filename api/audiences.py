"""The resources that access tokens are for: each MCP path is one, and says by what document (RFC 8707, RFC 9728)."""

from collections.abc import Iterable

from models.rules.access import Scope
from models.rules.oauth import proofs

METADATA = "/.well-known/oauth-protected-resource"


class Audiences:
    """The protected resources of one installation, by the path that is called."""

    def __init__(self, public_url: str) -> None:
        self.issuer = public_url.rstrip("/")
        """Exactly as metadata, redirects and clients write it: without a slash at the end."""

    def at(self, path: str) -> str | None:
        """The resource that a path belongs to, null for everything that takes API keys alone."""
        bare = path.removesuffix("/")
        return proofs.resource_at(self.issuer, bare) if bare in proofs.PATHS else None

    def challenge(self, path: str, *, presented: bool) -> str | None:
        """What `WWW-Authenticate` says at a path whose caller is not let in: where to learn how to sign in."""
        if self.at(path) is None:
            return None
        refused = 'error="invalid_token", ' if presented else ""
        return f"Bearer {refused}{self._where(path, proofs.FIRST_SCOPES)}"

    def step_up(self, path: str, scopes: Iterable[Scope]) -> str:
        """The same for a caller who would need these scopes."""
        return f'Bearer error="insufficient_scope", {self._where(path, frozenset(scopes))}'

    def _where(self, path: str, scopes: Iterable[Scope]) -> str:
        document = f"{self.issuer}{METADATA}{path.removesuffix('/')}"
        return f'resource_metadata="{document}", scope="{proofs.written(frozenset(scopes))}"'
