"""Names to addresses for webhooks: every address of a name is checked before any of them is used."""

import asyncio
import functools
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from models.rules.addresses import HTTPS_PORT, Address, Target, refusal

THREADS = 64
Lookup = Callable[[str], Awaitable[Sequence[str]]]


class AddressRefused(Exception):
    """A name leads to an address that nothing is sent to."""


class Unresolved(Exception):
    """A name has no address."""


class Resolver:
    """Resolves afresh for every caller; callers that ask for the same name in the same moment share one look-up.

    Look-ups run in threads of their own, so that a name server that hangs holds up nobody but whoever asks for its
    names. `lookup` and `refused` are replaced in tests.
    """

    def __init__(self, lookup: Lookup | None = None, *, refused: Callable[[Address], str | None] = refusal) -> None:
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
            task.exception()  # looked at, in case that everybody who asked has gone

    async def _system(self, host: str) -> Sequence[str]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolver")
        ask = functools.partial(socket.getaddrinfo, host, HTTPS_PORT, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [str(entry[4][0]) for entry in found]
