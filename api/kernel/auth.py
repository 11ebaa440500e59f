"""Access tokens and callers: the protected resources, one for each MCP path (RFC 8707, RFC 9728), keys and networks."""

import hashlib
import ipaddress
from collections.abc import Iterable, Mapping, Sequence

from models.access.rules import oauth
from models.access.rules.keys import Scope
from models.access.store.keys import Admission
from models.base.errors import Forbidden, NotFound, RateLimited, Unauthorized
from models.base.tenants import Tenant

METADATA = "/.well-known/oauth-protected-resource"


class Audiences:
    """The protected resources of one installation, by path."""

    def __init__(self, public_url: str) -> None:
        self.issuer = public_url.rstrip("/")
        """The issuer, exactly as metadata, redirects and clients write it: without a slash at the end."""

    def at(self, path: str) -> str | None:
        """Return the resource of a path, null for paths that accept only API keys."""
        bare = path.removesuffix("/")
        return oauth.resource_at(self.issuer, bare) if bare in oauth.PATHS else None

    def challenge(self, path: str, *, presented: bool) -> str | None:
        """Return the `WWW-Authenticate` header for a refused caller of a path: where to learn how to sign in."""
        if self.at(path) is None:
            return None
        refused = 'error="invalid_token", ' if presented else ""
        return f"Bearer {refused}{self._where(path, oauth.FIRST_SCOPES)}"

    def step_up(self, path: str, scopes: Iterable[Scope]) -> str:
        """Return the `WWW-Authenticate` header for a caller that needs these scopes."""
        return f'Bearer error="insufficient_scope", {self._where(path, frozenset(scopes))}'

    def _where(self, path: str, scopes: Iterable[Scope]) -> str:
        document = f"{self.issuer}{METADATA}{path.removesuffix('/')}"
        return f'resource_metadata="{document}", scope="{oauth.scopes_text(frozenset(scopes))}"'


# Callers.


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_SECRET = 512
MAX_CUSTOMER = 64
UNKNOWN_CUSTOMER = "-"
IPV6_NETWORK = 64


def secret_hash(authorization: str | None) -> bytes | None:
    """Return the SHA-256 of the bearer secret, null if there is no plausible one."""
    scheme, _, secret = (authorization or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret or len(secret) > MAX_SECRET:
        return None
    return hashlib.sha256(secret.encode()).digest()


def selected_customer(header: str | None) -> str | None:
    """Return the id in the Service-Customer header; a value that cannot be an id becomes `UNKNOWN_CUSTOMER`."""
    if header is None:
        return None
    plausible = len(header) <= MAX_CUSTOMER and header.isascii() and header.replace("_", "").isalnum()
    return header if plausible else UNKNOWN_CUSTOMER


class Networks:
    """Finds the network of a request: its peer, or the address that a trusted proxy reports."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusted: tuple[Network, ...] = tuple(ipaddress.ip_network(network, strict=False) for network in trusted)

    def of(self, peer: str | None, forwarded_for: str | None) -> str:
        """Return the rate limit bucket of requests without a key: an IPv4 address, or the /64 of an IPv6 address."""
        address = _address(peer)
        if forwarded_for and address is not None and self._trusts(address):
            address = self._behind(forwarded_for, address)
        if address is None:
            return "net:unknown"
        if isinstance(address, ipaddress.IPv6Address):
            return f"net:{ipaddress.ip_network((address, IPV6_NETWORK), strict=False)}"
        return f"net:{address}/32"

    def _behind(self, forwarded_for: str, proxy: Address) -> Address:
        """Return the last address that is not a trusted proxy; earlier ones are claims of the caller."""
        nearest = proxy
        for claim in reversed(forwarded_for.split(",")):
            address = _address(claim.strip())
            if address is None:
                return nearest
            nearest = address
            if not self._trusts(address):
                return nearest
        return nearest

    def _trusts(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self._trusted)


def _address(text: str | None) -> Address | None:
    try:
        address = ipaddress.ip_address(text or "")
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def rate_headers(admission: Admission, limit: int) -> dict[str, str]:
    """Return the rate limit headers of a counted response; the reset is in seconds."""
    return {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(max(0, limit - admission.hits)),
        "RateLimit-Reset": str(admission.resets_in),
    }


def check_rate(admission: Admission, limit: int) -> None:
    """Raise `RateLimited` if the window is full."""
    if admission.hits > limit:
        raise RateLimited(admission.resets_in)


def check_caller(admission: Admission, *, audience: str | None) -> None:
    """Refuse a request without a valid key, with another resource's access token, or of a suspended workspace.

    `audience` is the requested resource, null if only keys are accepted. Raises `Unauthorized` or `Forbidden`.
    """
    if admission.caller is None:
        raise Unauthorized(
            "The API key is missing, invalid, expired or revoked.",
            fix="Send the header Authorization: Bearer <API_KEY>.",
        )
    if admission.audience is not None and admission.audience != audience:
        raise Unauthorized("This access token is for another resource.")
    if admission.suspended:
        raise Forbidden("This workspace is suspended.")


def requested_tenant(admission: Admission) -> Tenant | None:
    """Return the account or the customer that a request selects; null without a key.

    Raises `Forbidden` for a customer that is disabled or not the key's own, `NotFound` for one that does not exist.
    """
    caller, customer = admission.caller, admission.customer
    if caller is None:
        return None
    if customer is None:
        return Tenant(caller.workspace_id)
    if caller.power.customer_id not in (None, customer.id):
        raise Forbidden("This key is bound to another customer.")
    if customer.status is None:
        raise NotFound("There is no such customer in this workspace.")
    if customer.status != "active":
        raise Forbidden("This customer is disabled.")
    return Tenant(caller.workspace_id, customer.id)


def header_map(raw: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the request's headers by lower-case name; the last one of repeated headers."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
