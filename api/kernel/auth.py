"""The resources that access tokens are for: each MCP path is one, and says by what document (RFC 8707, RFC 9728)."""

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
    """The protected resources of one installation, by the path that is called."""

    def __init__(self, public_url: str) -> None:
        self.issuer = public_url.rstrip("/")
        """Exactly as metadata, redirects and clients write it: without a slash at the end."""

    def at(self, path: str) -> str | None:
        """The resource that a path belongs to, null for everything that takes API keys alone."""
        bare = path.removesuffix("/")
        return oauth.resource_at(self.issuer, bare) if bare in oauth.PATHS else None

    def challenge(self, path: str, *, presented: bool) -> str | None:
        """What `WWW-Authenticate` says at a path whose caller is not let in: where to learn how to sign in."""
        if self.at(path) is None:
            return None
        refused = 'error="invalid_token", ' if presented else ""
        return f"Bearer {refused}{self._where(path, oauth.FIRST_SCOPES)}"

    def step_up(self, path: str, scopes: Iterable[Scope]) -> str:
        """The same for a caller who would need these scopes."""
        return f'Bearer error="insufficient_scope", {self._where(path, frozenset(scopes))}'

    def _where(self, path: str, scopes: Iterable[Scope]) -> str:
        document = f"{self.issuer}{METADATA}{path.removesuffix('/')}"
        return f'resource_metadata="{document}", scope="{oauth.scopes_text(frozenset(scopes))}"'


# Who makes a request: the key it carries, the network it comes from, the customer it selects.


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_SECRET = 512
MAX_CUSTOMER = 64
NOBODY = "-"
IPV6_NETWORK = 64


def secret_hash(authorization: str | None) -> bytes | None:
    """The SHA-256 of the bearer secret, null when there is none to look for."""
    scheme, _, secret = (authorization or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret or len(secret) > MAX_SECRET:
        return None
    return hashlib.sha256(secret.encode()).digest()


def selected_customer(header: str | None) -> str | None:
    """What the Service-Customer header selects; a value that cannot be an id stands for no customer that exists."""
    if header is None:
        return None
    plausible = len(header) <= MAX_CUSTOMER and header.isascii() and header.replace("_", "").isalnum()
    return header if plausible else NOBODY


class Networks:
    """Finds the network of a request: its peer, or what a trusted proxy says about it."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusted: tuple[Network, ...] = tuple(ipaddress.ip_network(network, strict=False) for network in trusted)

    def of(self, peer: str | None, forwarded_for: str | None) -> str:
        """The bucket of requests without a key: an IPv4 address, or the /64 of an IPv6 address."""
        address = _address(peer)
        if forwarded_for and address is not None and self._trusts(address):
            address = self._behind(forwarded_for, address)
        if address is None:
            return "net:unknown"
        if isinstance(address, ipaddress.IPv6Address):
            return f"net:{ipaddress.ip_network((address, IPV6_NETWORK), strict=False)}"
        return f"net:{address}/32"

    def _behind(self, forwarded_for: str, proxy: Address) -> Address:
        """The last address that no trusted proxy has: those in front of it are the caller's own claims."""
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
    """What every counted response carries; the reset is in seconds."""
    return {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(max(0, limit - admission.hits)),
        "RateLimit-Reset": str(admission.resets_in),
    }


def check_rate(admission: Admission, limit: int) -> None:
    """Raise `RateLimited` when the window is full."""
    if admission.hits > limit:
        raise RateLimited(admission.resets_in)


def check_caller(admission: Admission, *, audience: str | None) -> None:
    """Refuse requests without a working key, with another resource's access token, and of a suspended workspace.

    `audience` is the resource that the request is for, null where keys alone are taken. Raises `Unauthorized` or
    `Forbidden`.
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
    """The account or the customer that a request means.

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
    """The request's headers by lower-case name; of repeated ones the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
