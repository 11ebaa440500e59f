"""What narrows a title is a wish: who has it comes first, and no one is left out for the lack of it."""

from models.reading.intents import Intent
from models.sourcing.rules.planning import plan_search
from tests.models.sourcing.rules.knowledge import knowledge


def planned(nice: dict[str, object]) -> list[str]:
    intent = Intent.model_validate(
        {"must": {"titles": ["Truck driver CE"], "location": {"countries": ["BE"]}}, "nice": nice}
    )
    return [tier.label for tier in plan_search(intent, knowledge(), totals={}).tiers]


def test_a_licence_beside_the_title_divides_each_tier() -> None:
    labels = planned({})
    assert any("with Driving Licence CE" in label for label in labels)
    assert any("without Driving Licence CE" in label for label in labels)


def test_wishes_of_the_same_kind_are_joined_and_others_keep_their_own() -> None:
    assert any("Driving Licence CE" in label and "ADR" in label for label in planned({"skills": ["ADR"]}))
    assert not any("Driving Licence CE" in label for label in planned({"languages": ["dutch"]}))
