"""The plan in a few sentences."""

from models.rules.planner.conditions import Conditions
from models.rules.planner.ground import Ground
from models.rules.planner.titles import Titles
from models.rules.planner.wording import listed, required


def summary(*, titles: Titles, ground: Ground, conditions: Conditions, target: int, credits: tuple[int, int]) -> str:
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
    if titles.excluded:
        sentences.append(f"Left out: {listed(titles.excluded)}.")
    low, high = credits
    sentences.append(f"Up to {target} people for {low} to {high} credits.")
    return " ".join(sentences)
