"""Target companies: names resolved to ids where the name leaves one choice, never guessed."""

from collections.abc import Sequence

from models.rules.companies import Companies
from models.rules.planner.notes import Notes
from models.rules.planner.wording import listed

MOST_ALTERNATIVES = 5
FIX = "Find the id with GET /v1/lookups/companies and put it into must.company_ids."


def target_company_ids(names: Sequence[str], companies: Companies, notes: Notes) -> tuple[str, ...]:
    """Ids of the companies that are unambiguous; the others become warnings with their alternatives."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        choices = companies.named(name)
        if len(choices) == 1:
            found.setdefault(choices[0].id, choices[0].label)
        elif choices:
            labels = [f"{choice.label} ({choice.id})" for choice in choices]
            notes.warn(f"{name} can mean {listed(labels, most=MOST_ALTERNATIVES, last='or')}; it is left out. {FIX}")
        else:
            notes.warn(f"No company called {name} is known; it is left out.")
    if found:
        notes.apply("target_companies", tuple(found.values()))
    elif names:
        notes.ignore(
            "target_companies", "None of the target companies is certain: people of all companies are searched."
        )
    return tuple(found)
