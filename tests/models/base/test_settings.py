"""Settings that must not meet are refused at the start of a process."""

import pytest
from pydantic import ValidationError

from models.base.settings import Settings

SAFE = {"database_url": "postgresql+asyncpg://", "secret_key": "k" * 32, "public_url": "https://api.example.com"}


CHOICES = {"production", "email_verification", "unipile_require_signature", "log_json", "temporal_tls"}
"""What is on or off in production as well, as the operator chooses."""


def test_whatever_is_on_or_off_is_a_development_switch_or_the_operators_choice() -> None:
    """A new one is marked as the former, or written down here as the latter."""
    on_or_off = {name for name, field in Settings.model_fields.items() if field.annotation in (bool, bool | None)}
    assert set(Settings.switches()) | CHOICES == on_or_off
    assert not set(Settings.switches()) & CHOICES
    assert {"virtual_time", "webhook_loopback"} <= set(Settings.switches())


@pytest.mark.parametrize("switch", Settings.switches())
def test_a_development_switch_is_off_by_default_and_refused_in_production(switch: str) -> None:
    assert getattr(Settings.model_validate(SAFE | {"production": True}), switch) is False
    assert getattr(Settings.model_validate(SAFE | {switch: True}), switch) is True
    with pytest.raises(ValidationError, match=switch.upper()):
        Settings.model_validate(SAFE | {"production": True, switch: True})


def test_a_short_key_and_a_public_address_without_tls_are_refused() -> None:
    with pytest.raises(ValidationError, match="SECRET_KEY"):
        Settings.model_validate(SAFE | {"secret_key": "k" * 31})
    with pytest.raises(ValidationError, match="PUBLIC_URL"):
        Settings.model_validate(SAFE | {"production": True, "public_url": "http://api.example.com"})


@pytest.mark.parametrize("alone", ["stripe_api_key", "stripe_webhook_secret"])
def test_a_payment_provider_is_configured_with_both_secrets_or_not_at_all(alone: str) -> None:
    with pytest.raises(ValidationError, match="STRIPE_WEBHOOK_SECRET"):
        Settings.model_validate(SAFE | {alone: "secret"})
    both = {"stripe_api_key": "key", "stripe_webhook_secret": "secret"}
    assert Settings.model_validate(SAFE | both).stripe_api_key is not None
    assert Settings.model_validate(SAFE).stripe_api_key is None
    assert Settings.model_validate(SAFE | dict.fromkeys(both, "")).stripe_api_key is None
