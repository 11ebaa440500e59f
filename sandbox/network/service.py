"""Assembles the network side: members, relations, the provider's calls, events and control."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from starlette.routing import Route

from sandbox.clock import Clock
from sandbox.faults import Faults
from sandbox.network.accounts import Accounts
from sandbox.network.behaviour import ACCEPT, DECLINE, READY, REPLY, Behaviour
from sandbox.network.behaviour_profiles import BehaviourProfiles
from sandbox.network.cache import Cache
from sandbox.network.chats import Chats
from sandbox.network.control import NetworkControl
from sandbox.network.core import Core
from sandbox.network.deliveries import Deliveries
from sandbox.network.events import CALLBACK, PROVIDER, Events
from sandbox.network.gate import Gate, Operation
from sandbox.network.hosted import HostedSignIn, Links
from sandbox.network.ledger import RateLimits, WriteLog
from sandbox.network.messaging import Messaging
from sandbox.network.people import Members
from sandbox.network.relations import Relations
from sandbox.network.schedule import Loop, Schedule
from sandbox.network.schema import Ids, open_tables
from sandbox.network.users import Users
from sandbox.people.population.build import Population
from sandbox.people.population.draws import Draws
from sandbox.side import Side
from sandbox.state import State

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_INVITES = (None, "users", "me", "relation-requests")
_MESSAGES = (None, "chats", None, "messages")
_TALK = frozenset({"chats/list", "chats/get", "messages/list", "users/chat"})


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Options of the network side: valid keys, latency of every call, and limits.

    `ready_after` is how long a first synchronisation takes, `ceiling` the longest page of a list of the network,
    `per_hour` the calls an hour by operation or `*`.
    """

    api_keys: frozenset[str] = frozenset({"sandbox"})
    latency_ms: int = 0
    ready_after: timedelta = timedelta(seconds=2)
    ceiling: int = 25
    per_hour: Mapping[str, int] = field(default_factory=dict)


def _core_operations(core: Core) -> tuple[Operation, ...]:
    endpoints = ("webhooks", "endpoints")
    return (
        Operation("auth/link", "POST", ("auth", "link"), core.create_link),
        Operation("accounts/list", "GET", ("accounts",), core.list_accounts),
        Operation("accounts/get", "GET", ("accounts", None), core.show_account),
        Operation("accounts/delete", "DELETE", ("accounts", None), core.delete_account),
        Operation("webhooks/create", "POST", endpoints, core.create_endpoint),
        Operation("webhooks/list", "GET", endpoints, core.list_endpoints),
        Operation("webhooks/get", "GET", (*endpoints, None), core.show_endpoint),
        Operation("webhooks/change", "PATCH", (*endpoints, None), core.change_endpoint),
        Operation("webhooks/delete", "DELETE", (*endpoints, None), core.delete_endpoint),
        Operation("webhooks/conversations", "GET", ("webhooks", "conversations"), core.list_conversations),
    )


def _user_operations(users: Users) -> tuple[Operation, ...]:
    wrong_then = frozenset({"users/get", "users/requests", "users/relations"})
    return (
        Operation("users/invite", "POST", _INVITES, users.invite, drops=wrong_then, person=users.invited_person),
        Operation("users/requests", "GET", _INVITES, users.requests),
        Operation(
            "users/withdraw",
            "POST",
            (*_INVITES, None, "cancel"),
            users.withdraw,
            drops=wrong_then,
            person=users.withdrawn_from,
        ),
        Operation("users/visit", "POST", (None, "users", "visit-profile"), users.visit),
        Operation("users/get", "GET", (None, "users", None), users.profile, person=users.person),
        Operation("users/relations", "GET", (None, "users", None, "relations"), users.known),
        Operation("users/chat", "GET", (None, "users", None, "chat"), users.chat),
    )


def _chat_operations(messaging: Messaging) -> tuple[Operation, ...]:
    return (
        Operation("chats/list", "GET", (None, "chats"), messaging.list_chats),
        Operation("chats/send", "POST", (None, "chats", "send"), messaging.start, drops=_TALK),
        Operation("chats/get", "GET", (None, "chats", None), messaging.show_chat),
        Operation("messages/list", "GET", _MESSAGES, messaging.list_messages),
        Operation("messages/send", "POST", (*_MESSAGES, "send"), messaging.send, drops=_TALK),
        Operation("messages/get", "GET", (*_MESSAGES, None), messaging.show_message),
    )


def network_side(
    *, population: Population, state: State, clock: Clock, faults: Faults, settings: NetworkSettings, seed: int
) -> Side:
    """Build the network side of the sandbox."""
    open_tables(state)
    ids, draws, members = Ids(state), Draws(seed), Members(population, seed)
    accounts = Accounts(state, clock, ids, members)
    relations = Relations(state, clock, ids, draws, len(population))
    chats, log, cache = Chats(state, ids, draws, members), WriteLog(state, clock), Cache(state, clock)
    schedule = Schedule(state, clock)
    events = Events(state=state, clock=clock, ids=ids, draws=draws, schedule=schedule, faults=faults)
    deliveries = Deliveries(
        state=state, clock=clock, ids=ids, schedule=schedule, endpoints=events.endpoints, faults=faults
    )
    behaviour = Behaviour(clock, members, accounts, relations, chats, BehaviourProfiles(draws), schedule, events)
    links, limits = Links(state), RateLimits(clock, dict(settings.per_hour))
    hosted = HostedSignIn(state, clock, accounts, links, behaviour, settings.ready_after)
    users = Users(clock, ids, members, accounts, relations, chats, log, behaviour, settings.ceiling)
    messaging = Messaging(clock, members, relations, chats, log, behaviour, settings.ceiling)
    core = Core(clock, ids, accounts, links, events, deliveries, behaviour)
    operations = (*_core_operations(core), *_user_operations(users), *_chat_operations(messaging))
    names = frozenset(operation.name for operation in operations)
    gate = Gate(state, faults, accounts, cache, limits, operations, settings.api_keys, settings.latency_ms)
    control = NetworkControl(
        state=state,
        ids=ids,
        members=members,
        accounts=accounts,
        relations=relations,
        chats=chats,
        log=log,
        cache=cache,
        limits=limits,
        events=events,
        schedule=schedule,
        deliveries=deliveries,
        behaviour=behaviour,
        hosted=hosted,
        operations=names,
    )
    loop = Loop(
        state=state,
        schedule=schedule,
        acts={
            ACCEPT: behaviour.accept_planned,
            DECLINE: behaviour.decline_planned,
            REPLY: behaviour.reply_planned,
            READY: behaviour.get_ready,
        },
        send=deliveries.attempt,
    )
    return Side(
        provider=PROVIDER,
        operations=names | {CALLBACK},
        routes=(
            Route("/v2/{path:path}", gate.serve, methods=list(_METHODS)),
            Route("/hosted-auth/{token}", hosted.serve, methods=["GET", "POST"]),
        ),
        control=control.router(),
        next_at=schedule.next_at,
        run=loop.run,
    )
