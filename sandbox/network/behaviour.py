"""Acts of people, owners and the provider: accept, decline, write, synchronise; by seed or through the control API."""

from dataclasses import dataclass
from datetime import timedelta

from sandbox.clock import Clock, rfc3339
from sandbox.network.accounts import Account, Accounts, Status
from sandbox.network.behaviour_profiles import BehaviourProfiles
from sandbox.network.chats import Chat, Chats, Message
from sandbox.network.events import ACCEPTED, Events
from sandbox.network.people import Members
from sandbox.network.relations import Relation, Relations, Tie
from sandbox.network.schedule import Schedule
from sandbox.network.wire import Json

ACCEPT, DECLINE, REPLY, READY = "accept", "decline", "reply", "ready"
_FIRST_WORDS_AFTER = timedelta(minutes=2)


class Unfitting(Exception):
    """The act is impossible for the relation between the two people."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Changes the network and sends events about it."""

    clock: Clock
    members: Members
    accounts: Accounts
    relations: Relations
    chats: Chats
    profiles: BehaviourProfiles
    schedule: Schedule
    events: Events

    def invited(self, relation: Relation) -> None:
        """Schedule the reaction of an invited person."""
        profile = self.profiles.of(relation.owner, relation.person)
        if self.events.natural and (profile.accepts or profile.declines):
            body = {"owner": relation.owner, "person": relation.person, "request_id": relation.request_id}
            self.schedule.add(ACCEPT if profile.accepts else DECLINE, body, after=profile.decides_after)

    def written_to(self, chat: Chat) -> None:
        """Schedule the answer of a person who got a message, if any."""
        profile = self.profiles.of(chat.owner, chat.person)
        said = self.chats.messages(chat.id)
        written = sum(message.by_owner for message in said)
        if self.events.natural and written == profile.answers_message:
            body = {"owner": chat.owner, "person": chat.person, "text": profile.says}
            self.schedule.add(REPLY, body, after=profile.answers_after)

    def accept_planned(self, body: Json) -> None:
        """Accept if the invite is still pending."""
        relation = self.relations.between(body["owner"], body["person"])
        if relation.tie is Tie.PENDING and relation.request_id == body["request_id"]:
            self.accept(relation)
            profile = self.profiles.of(relation.owner, relation.person)
            if profile.writes_when_accepting:
                reply = {"owner": relation.owner, "person": relation.person, "text": profile.says}
                self.schedule.add(REPLY, reply, after=_FIRST_WORDS_AFTER)

    def decline_planned(self, body: Json) -> None:
        """Decline if the invite is still pending: it disappears without an event."""
        relation = self.relations.between(body["owner"], body["person"])
        if relation.tie is Tie.PENDING and relation.request_id == body["request_id"]:
            self.relations.write(relation.model_copy(update={"tie": Tie.IGNORED, "since": self.clock.now()}))

    def reply_planned(self, body: Json) -> None:
        """Write to the owner."""
        self.write(self.chats.opened(body["owner"], body["person"]), body["text"], by_owner=False)

    def get_ready(self, body: Json) -> None:
        """Finish the first synchronisation of an account."""
        account = self.accounts.get(body["account_id"])
        if account is not None and not account.synchronised:
            self.accounts.write(account.model_copy(update={"synchronised": True}))
            self.tell_status(account, "account.status.running", {}, promptly=True)

    def accept(self, relation: Relation, *, promptly: bool = False) -> None:
        """Accept an invite; its note becomes the first message of a chat.

        Raises:
            Unfitting: there is no pending invite.
        """
        if relation.tie is not Tie.PENDING:
            raise Unfitting("this person has no pending invite")
        now = self.clock.now()
        self.relations.write(relation.model_copy(update={"tie": Tie.CONNECTED, "since": now}))
        if relation.note:
            self.write(
                self.chats.opened(relation.owner, relation.person), relation.note, by_owner=True, promptly=promptly
            )
        account = self._listening(relation.owner)
        if account is not None:
            person = self.members.member(relation.person)
            user = {"object": "User", "id": person.id, "type": "individual", "display_name": person.display_name}
            self.events.tell(
                ACCEPTED[self.events.generation],
                account.id,
                {"object": "UserRelation", "id": person.id, "user": user, "created_at": rfc3339(now)},
                ids_of={"user_id": person.id},
                promptly=promptly,
            )

    def write(self, chat: Chat, text: str, *, by_owner: bool, promptly: bool = False) -> Message:
        """Write a message as one of the two people."""
        message = self.chats.say(chat, text, by_owner=by_owner, at=self.clock.now())
        account = self._listening(chat.owner)
        if account is not None:
            shown = self.chats.shown_message(chat, message)
            ids = {"chat_id": chat.id, "message_id": message.id}
            self.events.tell("message.new", account.id, shown, ids_of=ids, promptly=promptly)
        return message

    def tell_status(self, account: Account, type_: str, more: Json, *, promptly: bool = False) -> None:
        """Send an event with the status of an account."""
        at = {"timestamp": rfc3339(self.clock.now())}
        self.events.tell(type_, account.id, at | more, ids_of=at, promptly=promptly)

    def settle_in(self, owner: int) -> None:
        """Give an owner whose account is connected for the first time relations and chats of the past."""
        begun = self.relations.settle_in(owner)
        connected = [(each.person, each.since) for each in begun if each.tie is Tie.CONNECTED and each.since]
        self.chats.settle_in(owner, connected)

    def _listening(self, owner: int) -> Account | None:
        """Return the account through which the provider sees an owner's events; None while it is not connected."""
        account = self.accounts.of_owner(owner)
        return account if account is not None and account.status is not Status.DISCONNECTED else None
