"""Which skills a text requires, which it welcomes, and which it rules out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from models.market.skills import SkillField
from models.reading.document import Document, Section, SkillMention
from models.reading.draft import DraftBlock
from models.reading.exclusions import NOT_NEEDED
from models.reading.languages import AND, OR, phrases
from models.reading.spoken import IDEALLY, REACH, WELCOME, clause_around

MOST_REQUIRED = 3
MOST_WELCOME = 12
CERTAIN = 3
"""This many signs make a skill of an advertisement a requirement."""
TECHNOLOGIES = frozenset(
    {
        SkillField.PROGRAMMING_LANGUAGES,
        SkillField.FRAMEWORKS,
        SkillField.DATA_SOFTWARE,
        SkillField.DATABASES,
        SkillField.CLOUD_AND_OPERATIONS,
        SkillField.DESIGN_SOFTWARE,
        SkillField.BUSINESS_SOFTWARE,
        SkillField.ENGINEERING_SOFTWARE,
    }
)
"""Fields whose skills have one usual name: who has such a skill lists it under that name."""
LISTED = re.compile(rf"[\s,&()+*]*(?P<or>/|\b{OR}(?!\w))?[\s,/&()]*{AND}?[\s(]*")
LONGEST_GAP = 20
EXAMPLE_BEFORE = re.compile(rf"{phrases(lambda each: each.skills.example_before)}[\s(:,]*$", re.IGNORECASE)
EXAMPLE_AFTER = re.compile(rf"[\s(,]*{phrases(lambda each: each.skills.example_after)}", re.IGNORECASE)
DENIED = re.compile(rf"(?<!\w){phrases(lambda each: each.skills.denied)}\s+$", re.IGNORECASE)
LITTLE = re.compile(rf"\b{phrases(lambda each: each.skills.little)}\b", re.IGNORECASE)
FIRM = re.compile(rf"\b{phrases(lambda each: each.skills.firm)}\b", re.IGNORECASE)
_APART = frozenset({Section.COMPANY, Section.OFFER})
_ASKING = frozenset({Section.REQUIRED, Section.NICE, Section.TASKS})


@dataclass(frozen=True, slots=True)
class SoughtSkill:
    """A skill at the place that says most about it; `mentions` counts all its places."""

    name: str
    start: int
    end: int
    block: DraftBlock
    mentions: int

    @property
    def required(self) -> bool:
        """Whether people without it are not sought."""
        return self.block is DraftBlock.MUST


@dataclass(frozen=True, slots=True)
class _Mention:
    match: SkillMention
    section: Section
    open: bool
    """One of several, an example, welcome or needed a little: not a requirement by itself."""
    firm: bool
    denied: bool
    titled: bool


def read_skills(document: Document, found: Sequence[SkillMention], *, title: tuple[int, int]) -> list[SoughtSkill]:
    """Return what an advertisement with its title at `title` asks for, the most wanted first, then what it rules out.

    A search requires every skill of `must`, so only the few that are plainly required come there.
    """
    said: dict[str, list[_Mention]] = {}
    denied: dict[str, list[_Mention]] = {}
    for mention in _that_count(document, found, title):
        (denied if mention.denied else said).setdefault(mention.match.name, []).append(mention)
    ranked = sorted(said.values(), key=_rank)
    required = [mentions for mentions in ranked if _signs(mentions) >= CERTAIN][:MOST_REQUIRED]
    welcome = [mentions for mentions in ranked if mentions not in required][:MOST_WELCOME]
    barred = [
        mentions
        for name, mentions in denied.items()
        if name not in said and all(mention.section is Section.REQUIRED for mention in mentions)
    ]
    blocks = ((DraftBlock.MUST, required), (DraftBlock.NICE, welcome), (DraftBlock.EXCLUDE, barred))
    return [_sought(mentions, block) for block, several in blocks for mentions in several]


def _that_count(document: Document, found: Sequence[SkillMention], title: tuple[int, int]) -> list[_Mention]:
    """Return the mentions in the title, tasks and requirements; in texts without such headings also elsewhere."""
    groups = skill_groups(document.text, found)
    mentions = [mention for group in groups for mention in _mentions(document, group, title)]
    headed = any(mention.section in _ASKING for mention in mentions)
    return [
        mention
        for mention in mentions
        if mention.titled or mention.section in _ASKING or (not headed and mention.section not in _APART)
    ]


def skill_groups(text: str, matches: Iterable[SkillMention]) -> list[list[SkillMention]]:
    """Return the matches in groups, each a list within a sentence: `Java, Kotlin or Scala`."""
    groups: list[list[SkillMention]] = []
    for match in matches:
        gap = text[groups[-1][-1].end : match.start] if groups else ""
        if groups and len(gap) <= LONGEST_GAP and LISTED.fullmatch(gap.lower()):
            groups[-1].append(match)
        else:
            groups.append([match])
    return groups


def one_of_several(text: str, group: Sequence[SkillMention]) -> bool:
    """Return whether a list leaves a choice, or names examples."""
    before, after = clause_around(text, group[0].start, group[-1].end)
    gaps = (LISTED.fullmatch(text[left.end : right.start].lower()) for left, right in pairwise(group))
    return bool(any(gap and gap["or"] for gap in gaps) or EXAMPLE_BEFORE.search(before) or EXAMPLE_AFTER.match(after))


def _mentions(document: Document, group: Sequence[SkillMention], title: tuple[int, int]) -> Iterator[_Mention]:
    text = document.text
    before, after = clause_around(text, group[0].start, group[-1].end)
    section = document.section_at(group[0].start)
    near = f"{before[-REACH:]} {after[:REACH]}"
    denied = DENIED.search(before) is not None
    if denied and NOT_NEEDED.search(after):
        return
    choice = one_of_several(text, group) or section is Section.NICE
    for match in group:
        yield _Mention(
            match=match,
            section=section,
            open=bool(choice or WELCOME.search(near) or IDEALLY.search(before) or LITTLE.search(near)),
            firm=FIRM.search(near) is not None,
            denied=denied,
            titled=title[0] <= match.start and match.end <= title[1],
        )


def _signs(said: Sequence[_Mention]) -> int:
    """Return how many signs there are that a skill is required; 0 for a skill that is only welcome."""
    field = said[0].match.field
    firmly = [mention for mention in said if not mention.open]
    if field not in TECHNOLOGIES or not firmly:
        return 0
    return (
        CERTAIN * any(mention.titled for mention in firmly)
        + any(mention.section is Section.REQUIRED for mention in firmly)
        + (len(firmly) > 1)
        + any(mention.firm for mention in firmly)
        + (field is SkillField.PROGRAMMING_LANGUAGES)
    )


def _rank(said: Sequence[_Mention]) -> tuple[int, bool, int]:
    return -_signs(said), all(mention.section is Section.TASKS for mention in said), said[0].match.start


def _sought(said: Sequence[_Mention], block: DraftBlock) -> SoughtSkill:
    """Return the skill with its best evidence: a firm mention among the requirements before others."""
    telling = min(said, key=lambda mention: (mention.open, mention.section is not Section.REQUIRED)).match
    return SoughtSkill(telling.name, telling.start, telling.end, block, mentions=len(said))
