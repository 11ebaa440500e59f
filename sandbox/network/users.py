"""Profiles, invites and visits."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import timedelta

from sandbox.clock import Clock, rfc3339
from sandbox.network.accounts import Account, Accounts
from sandbox.network.behaviour import Behaviour
from sandbox.network.chats import Chats
from sandbox.network.gate import Call
from sandbox.network.ledger import Kind, WriteLog
from sandbox.network.people import Member, Members
from sandbox.network.relations import Relation, Relations, Tie
from sandbox.network.schema import Ids
from sandbox.network.wire import Answer, ApiError, Ask, Json, listed, page_of, read

NOTE_UNITS = 300
REINVITE_AFTER = timedelta(days=21)
TOKEN_LIFE_SECONDS = 600
_RESEND = "Cannot resend yet: this person was invited or withdrawn recently."
_TIES = {Tie.PENDING: "PENDING", Tie.IGNORED: "IGNORED", Tie.WITHDRAWN: "WITHDRAWN"}


class Invite(Ask):
    """The invited person and the note."""

    user_id: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Users:
    """Answers the calls about people."""

    clock: Clock
    ids: Ids
    members: Members
    accounts: Accounts
    relations: Relations
    chats: Chats
    log: WriteLog
    behaviour: Behaviour
    ceiling: int

    def person(self, call: Call) -> int | None:
        """Return the person that the id in a call's path means."""
        return self.members.find(call.values[0]) if call.values else None

    def profile(self, call: Call) -> Answer:
        """Return a person as the owner sees them; `me` for the owner."""
        account, asked = call.account, call.values[0]
        owner = self.members.member(account.owner)
        if asked in ("me", owner.id, owner.public_identifier):
            return Answer(_profile(owner) | {"specifics": {"network_distance": "SELF"}})
        number = self.members.find(asked)
        if number is None:
            raise ApiError("provider/resource_not_found", "there is no such user")
        relation = self.relations.between(account.owner, number)
        return Answer(_profile(self.members.member(number)) | {"specifics": self._specifics(account, relation)})

    def invite(self, call: Call) -> Answer:
        """Invite a person, or refuse as the network does."""
        account, ask = call.account, read(Invite, call.content)
        if _units(ask.message or "") > NOTE_UNITS:
            raise ApiError("provider/invalid_parameters", f"message must have at most {NOTE_UNITS} characters")
        member = self._invitee(ask.user_id)
        relation = self.relations.between(account.owner, member.number)
        self._check_invitable(relation)
        self.accounts.check_limit(account)
        reached = self.log.limit_reached(account.owner)
        if reached is not None:
            self.accounts.check_limit(self.accounts.limited(account, reached))
        now = self.clock.now()
        invited = relation.model_copy(
            update={
                "tie": Tie.PENDING,
                "request_id": self.ids.awkward("inv"),
                "invited_at": now,
                "since": now,
                "note": ask.message or None,
            }
        )
        self.relations.write(invited)
        self._note("invite", account, member, ask.message or None, str(invited.request_id))
        self.behaviour.invited(invited)
        return Answer(self._request(invited), status=201)

    def requests(self, call: Call) -> Answer:
        """Return the pending invites of the owner."""
        kind = call.query.get("type")
        if kind not in ("sent", "received"):
            raise ApiError("api/invalid_parameters", "type must be sent or received")
        page = page_of(call.query, by_cursor=False)
        pending = self.relations.with_tie(call.account.owner, Tie.PENDING) if kind == "sent" else []
        rows = [self._request(relation) for relation in pending]
        return Answer(listed(rows, page, by_cursor=False, ceiling=self.ceiling))

    def withdraw(self, call: Call) -> Answer:
        """Withdraw a pending invite."""
        relation = self.relations.pending_with(call.account.owner, call.values[0])
        if relation is None:
            raise ApiError("provider/resource_not_found", "there is no such pending invitation")
        self.relations.write(relation.model_copy(update={"tie": Tie.WITHDRAWN, "since": self.clock.now()}))
        member = self.members.member(relation.person)
        self._note("withdraw", call.account, member, None, str(relation.request_id))
        return Answer({"object": "RelationRequestCanceled"})

    def withdrawn_from(self, call: Call) -> int | None:
        """Return the person of a withdrawal."""
        relation = self.relations.pending_with(call.account.owner, call.values[0])
        return None if relation is None else relation.person

    def invited_person(self, call: Call) -> int | None:
        """Return the person of an invite."""
        return self.members.with_id(read(Invite, call.content).user_id)

    def known(self, call: Call) -> Answer:
        """Return the relations of the owner."""
        if call.values[0] != "me":
            raise ApiError("provider/insufficient_permissions", "the relations of others are not shown")
        page = page_of(call.query, by_cursor=True)
        rows = [self._relation(each) for each in self.relations.with_tie(call.account.owner, Tie.CONNECTED)]
        return Answer(listed(rows, page, by_cursor=True, ceiling=self.ceiling))

    def visit(self, call: Call) -> Answer:
        """Tell a person that the owner visited their profile."""
        person = self._person_of_token(call.account, call.query.get("token", ""))
        self._note("visit", call.account, self.members.member(person), None, "visited")
        return Answer({"object": "ProfileVisited"})

    def chat(self, call: Call) -> Answer:
        """Return the chats with a person."""
        number = self.members.find(call.values[0])
        if number is None:
            raise ApiError("provider/resource_not_found", "there is no such user")
        chat = self.chats.between(call.account.owner, number)
        found = [] if chat is None else [{"chat_id": chat.id, "has_history": bool(self.chats.messages(chat.id))}]
        return Answer({"object": "ChatLookup", "data": found})

    def _invitee(self, user_id: str) -> Member:
        if not user_id.startswith("ACo"):
            raise ApiError("provider/invalid_parameters", "user_id is not valid")
        number = self.members.with_id(user_id)
        if number is None:
            raise ApiError("provider/resource_not_found", "there is no such user")
        return self.members.member(number)

    def _check_invitable(self, relation: Relation) -> None:
        if relation.tie is Tie.CONNECTED:
            raise ApiError("provider/unprocessable_entity", "This person is already a relation of yours.")
        ended = relation.since if relation.tie is Tie.WITHDRAWN else relation.invited_at
        recent = ended is not None and self.clock.now() - ended < REINVITE_AFTER
        if relation.tie is Tie.PENDING or (relation.tie is not Tie.NONE and recent):
            raise ApiError("provider/unprocessable_entity", _RESEND)

    def _specifics(self, account: Account, relation: Relation) -> Json:
        connected = relation.tie is Tie.CONNECTED
        distance = "FIRST_DEGREE" if connected else self.relations.distance(relation.owner, relation.person)
        specifics: Json = {"network_distance": distance, "can_send_inmail": False}
        if relation.tie in _TIES:
            specifics["relation_request_status"] = _TIES[relation.tie]
        if relation.tie is Tie.PENDING:
            specifics["relation_request"] = self._request(relation)
        if self.relations.visitable(relation.person):
            specifics["notify_visit_token"] = self._token(account, relation.person, int(self.clock.now().timestamp()))
        return specifics

    def _token(self, account: Account, person: int, at: int) -> str:
        digest = hashlib.sha256(f"visit {account.id} {person} {at}".encode()).hexdigest()[:16]
        return base64.b64encode(f"{person}:{at}:{digest}".encode()).decode()

    def _person_of_token(self, account: Account, token: str) -> int:
        try:
            person, at, _ = base64.b64decode(token, validate=True).decode().split(":")
            genuine = self._token(account, int(person), int(at)) == token
        except (binascii.Error, ValueError):
            genuine = False
        if not genuine:
            raise ApiError("provider/invalid_parameters", "the token is not valid")
        if self.clock.now().timestamp() - int(at) > TOKEN_LIFE_SECONDS:
            raise ApiError("provider/invalid_parameters", "the token has expired")
        return int(person)

    def _request(self, relation: Relation) -> Json:
        member = self.members.member(relation.person)
        body: Json = {"object": "RelationRequest", "type": "sent", "id": relation.request_id, "user": _user(member)}
        if relation.invited_at is not None:
            body["created_at"] = rfc3339(relation.invited_at)
        return body | ({"message": relation.note} if relation.note else {})

    def _relation(self, relation: Relation) -> Json:
        member = self.members.member(relation.person)
        body: Json = {"object": "UserRelation", "id": member.id, "user": _user(member)}
        return body | ({"created_at": rfc3339(relation.since)} if relation.since else {})

    def _note(self, kind: Kind, account: Account, member: Member, text: str | None, result: str) -> None:
        self.log.note(kind, account_id=account.id, owner=account.owner, person=member, text=text, result=result)


def _profile(member: Member) -> Json:
    return {
        "object": "UserProfile",
        "id": member.id,
        "type": "individual",
        "public_identifier": member.public_identifier,
        "display_name": member.display_name,
        "first_name": member.first_name,
        "last_name": member.last_name,
        "description": member.headline,
        "profile_url": member.profile_url,
    }


def _user(member: Member) -> Json:
    return {
        "object": "User",
        "id": member.id,
        "type": "individual",
        "display_name": member.display_name,
        "public_identifier": member.public_identifier,
    }


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
