"""The plan in a few sentences."""

from models.rules.intents import Intent
from models.rules.places import Places
from models.rules.planner.conditions import Conditions
from models.rules.planner.ground import Ground
from models.rules.planner.titles import Titles
from models.rules.planner.values import Estimate
from models.rules.planner.wording import excluded, listed, required


def summary(
    intent: Intent, *, titles: Titles, ground: Ground, conditions: Conditions, places: Places, price: str
) -> str:
    """The whole plan in a few sentences."""
    who = listed(titles.exact, most=5, last="or") if titles.exact else "People at the wanted companies"
    steps = [ground.local_label, f"then {ground.rest_label}"] if ground.local else [ground.rest_label]
    sentences = [f"{who} {', '.join(steps)}."]
    if titles.nearby:
        sentences.append(f"Nearby titles: {listed(titles.nearby, most=12)}.")
    if demands := required(conditions.common, conditions.all_of):
        sentences.append(f"Everybody has {demands}.")
    if conditions.nice_words:
        sentences.append(f"People with {conditions.nice_words} come first.")
    if gone := excluded(intent.exclude, places):
        sentences.append(f"Left out: {gone}.")
    return " ".join([*sentences, price])


def price_sentence(target: int, estimate: Estimate) -> str:
    """What the plan costs, the last sentence of its summary."""
    return f"Up to {target} people for {estimate.credits_min} to {estimate.credits_max} credits."
