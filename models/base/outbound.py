"""Which addresses webhooks may be sent to: the form of a URL, and the table of refused networks (contract, section 6).

A URL is read once, here; what is stored and sent is the text made of the parts that were read.
"""

import asyncio
import functools
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_URL = 2000
HTTPS_PORT = 443
LOOPBACK = "127.0.0.1"
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
# The last label begins with a letter: a host that ends in a number is a spelling of an IPv4 address.
_NAME = re.compile(rf"(?:{_LABEL}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?")
_MAX_NAME = 253
_PATH_SAFE = "/%:@!$&'()*+,;=~-._"
_VISIBLE = re.compile(r"[\x21-\x7e\x80-\U0010ffff]+")

REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        # IPv4 special-purpose registry, multicast, reserved, and the metadata address of a large cloud
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32"),
        # IPv6: unspecified, loopback, IPv4-mapped and -compatible; special-purpose with Teredo; documentation; 6to4;
        # segment routing. What lies outside 2000::/3 is refused by `refusal`.
        *("::/8", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16"),
    )
)
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses that a translator turns into the IPv4 address in their last 32 bits."""


class RefusedUrl(ValueError):
    """A URL that no webhook is sent to; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a webhook goes. `url` is the normalised text; `host` is a DNS name or a literal address."""

    url: str
    scheme: str
    host: str
    port: int
    literal: Address | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether it is what the development switch allows."""
        return self.scheme == "http"


def parse_webhook_url(url: str, *, loopback: bool) -> Target:
    """Read a webhook URL. `loopback` is the development switch: `http://127.0.0.1:<port>` is allowed then.

    Raises `RefusedUrl`.
    """
    if len(url) > MAX_URL:
        raise RefusedUrl(f"must have at most {MAX_URL} characters")
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise RefusedUrl("must not contain spaces, control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise RefusedUrl("is not a URL") from error
    if "@" in parts.netloc:
        raise RefusedUrl("must not contain credentials")
    if "#" in url:
        raise RefusedUrl("must not have a fragment")
    path = quote(parts.path or "/", safe=_PATH_SAFE)
    query = f"?{quote(parts.query, safe=_PATH_SAFE + '?')}" if parts.query else ""
    if loopback and parts.scheme == "http" and parts.hostname == LOOPBACK:
        port = port or 80
        return Target(f"http://{LOOPBACK}:{port}{path}{query}", "http", LOOPBACK, port)
    if parts.scheme != "https":
        raise RefusedUrl("must begin with https://")
    if port not in (None, HTTPS_PORT):
        raise RefusedUrl("must use port 443")
    host, literal = _host(parts.netloc, parts.hostname or "")
    shown = f"[{host}]" if ":" in host else host
    return Target(f"https://{shown}{path}{query}", "https", host, HTTPS_PORT, literal)


def _host(netloc: str, hostname: str) -> tuple[str, Address | None]:
    if not hostname.isascii():
        raise RefusedUrl("must spell its host in ASCII (xn--…)")
    host = hostname.lower().removesuffix(".")
    if netloc.startswith("["):
        return _literal(host)
    if host.replace(".", "").isdigit():
        return _literal(host)
    if len(host) > _MAX_NAME or not _NAME.fullmatch(host):
        raise RefusedUrl("must have a DNS name with a dot, or a literal address, as its host")
    return host, None


def _literal(host: str) -> tuple[str, Address]:
    try:
        address = ipaddress.ip_address(host)
    except ValueError as error:
        raise RefusedUrl("must have a DNS name with a dot, or a literal address, as its host") from error
    reason = address_refusal(address)
    if reason is not None:
        raise RefusedUrl(reason)
    return str(address), address


def address_refusal(address: Address) -> str | None:
    """Why nothing is sent to this address, null when it is a public one."""
    if isinstance(address, ipaddress.IPv6Address) and address in NAT64:
        return address_refusal(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    outside = isinstance(address, ipaddress.IPv6Address) and (
        address.scope_id is not None or address not in GLOBAL_UNICAST
    )
    if outside or any(address.version == network.version and address in network for network in REFUSED):
        return "must lead to public addresses only"
    return None


# Name resolution for webhooks: every address of a name is checked before any of them is used.


THREADS = 64
Lookup = Callable[[str], Awaitable[Sequence[str]]]


class AddressRefused(Exception):
    """A name leads to an address that nothing is sent to."""


class Unresolved(Exception):
    """A name has no address."""


class Resolver:
    """Resolves names without a cache; callers that ask for the same name at the same moment share one look-up.

    Look-ups run in threads of their own, so that a name server that hangs delays only the callers that ask for its
    names. `lookup` and `refused` are replaced in tests.
    """

    def __init__(
        self, lookup: Lookup | None = None, *, refused: Callable[[Address], str | None] = address_refusal
    ) -> None:
        self._lookup = lookup or self._system
        self._refused = refused
        self._threads: ThreadPoolExecutor | None = None
        self._running: dict[str, asyncio.Task[Sequence[str]]] = {}

    async def addresses(self, target: Target) -> tuple[Address, ...]:
        """Every address of the target, all of them public. Raises `AddressRefused` or `Unresolved`."""
        if target.is_loopback:  # what the development switch allows
            return (ipaddress.ip_address(target.host),)
        found = (target.literal,) if target.literal is not None else await self._resolve(target.host)
        if not found:
            raise Unresolved
        if any(self._refused(address) is not None for address in found):
            raise AddressRefused
        return found

    async def _resolve(self, host: str) -> tuple[Address, ...]:
        if host not in self._running:
            task = asyncio.ensure_future(self._lookup(host))
            self._running[host] = task
            task.add_done_callback(functools.partial(self._ended, host))
        try:
            texts = await asyncio.shield(self._running[host])  # one caller's time-out is not the others'
        except (OSError, UnicodeError) as error:
            raise Unresolved from error
        return tuple(dict.fromkeys(ipaddress.ip_address(text) for text in texts))

    def _ended(self, host: str, task: asyncio.Task[Sequence[str]]) -> None:
        del self._running[host]
        if not task.cancelled():
            task.exception()  # retrieved, in case every caller has gone

    async def _system(self, host: str) -> Sequence[str]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolver")
        ask = functools.partial(socket.getaddrinfo, host, HTTPS_PORT, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [str(entry[4][0]) for entry in found]
