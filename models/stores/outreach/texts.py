"""Texts of actions: rendered for their person while nothing has fixed them, and what they were rendered from."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.rendering import Person, Rendered, render_step
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import USED, ActionOutcome
from models.secrets import Vault
from models.stores.outreach import persons
from models.stores.outreach.scenes import Scene


@dataclass(frozen=True, slots=True)
class Writer:
    """What it takes to write to somebody: the key and the address that opt-out links are made of."""

    vault: Vault
    public_url: str


async def render(session: AsyncSession, writer: Writer, scene: Scene, step: Step) -> Rendered:
    """A step's text for the scene's person, as everything stands now."""
    person = await known(session, scene)
    notice = persons.notice(writer.vault, writer.public_url, scene.profile_id or scene.waiting.profile_id)
    return render_step(step, person, privacy_notice=notice)


async def known(session: AsyncSession, scene: Scene) -> Person:
    """What is known of the scene's person: what the caller gave goes first."""
    given = scene.enrollment.given if scene.enrollment is not None else {}
    return await persons.known(session, scene.tenant, scene.profile_id or scene.waiting.profile_id, given)


def values_hash(person: Person) -> str:
    """SHA-256 (hex) of what a text is filled with, so that a change of the person's data is noticed."""
    filled = "\0".join(value or "" for value in (person.first_name, person.full_name, person.company))
    return hashlib.sha256(filled.encode()).hexdigest()


def sent_hashes(scene: Scene) -> Collection[str]:
    """Hashes of the texts that were sent, or may have been, in this enrollment."""
    return {one.text_hash for one in scene.actions if one.text_hash and ActionOutcome(one.outcome) in USED}
