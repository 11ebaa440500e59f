"""Fixtures: a database, a served sandbox with one ready account, and the steps of enrollments between them."""

import pytest

from activities.upstream.unipile.network import UnipileNetwork
from models.base.database import Database
from models.base.secrets import Vault
from tests.activities.outreach.sending import Stage, stage
from tests.activities.upstream.unipile.conftest import Sandbox, adapter, network, quick_repeats, sandbox, served
from tests.models.conftest import Member, database, member, vault

__all__ = ["adapter", "database", "member", "network", "quick_repeats", "sandbox", "served", "vault"]


@pytest.fixture
def sending(
    database: Database,
    vault: Vault,
    member: Member,
    sandbox: Sandbox,
    network: UnipileNetwork,
) -> Stage:
    """Return a stage without people."""
    return stage(database, vault, member, sandbox, network)
