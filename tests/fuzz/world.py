"""The fuzzed workspace: several objects of every kind, of three tenants in one workspace."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from models.access.rules.keys import Scope
from models.base.tenants import all_tenants
from tests.api.conftest import Workspace, application
from tests.api.kernel.test_isolation import CHANGED, Tenant, furnish, new_workspace
from tests.api.people.people import slug, url
from tests.api.sourcing.sourcing import fund

IDS_VARIABLE = "FUZZ_IDS"
OWN_KEY_VARIABLE = "FUZZ_OWN_KEY"
ANSWERS_VARIABLE = "FUZZ_ANSWERS"
WITHOUT_WORKERS_VARIABLE = "FUZZ_WITHOUT_WORKERS"
EACH = 4
"""Number of objects of each kind; some are deleted or ended during the run."""
CREDITS = 100_000
OF_THE_WORLD = {
    "city": ["Gent", "Springfield"],
    "domain": ["siemens.com"],
    "q": ["Gent", "Siemens"],
    "location_id": ["loc_2797656"],
    "anchor_location_id": ["loc_2797656"],
}
"""Tables without an owner, shared by all workspaces."""


@dataclass
class World:
    """Input of the fuzzing: a key and its id, and ids of objects by their names in paths and bodies."""

    api_key: str
    api_key_id: str
    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def environment(self) -> dict[str, str]:
        """Return the environment variables that `tests.fuzz.hooks` reads."""
        return {IDS_VARIABLE: json.dumps(self.ids), OWN_KEY_VARIABLE: self.api_key_id}


async def furnished(database_url: str, **changed: Any) -> World:
    """Create a workspace with credits and objects of every kind, by the operations and stores themselves."""
    async with application(database_url, **CHANGED | changed) as app:
        database = app.state.kernel.database.within(all_tenants("tests"))
        tenant = await new_workspace(app)
        (own,) = (await tenant.call("GET", "/v1/api-keys")).json()["data"]
        world = World(tenant.http.headers["authorization"].removeprefix("Bearer "), own["id"])
        await fund(database, Workspace(tenant.workspace_id, world.api_key, tenant.http), CREDITS)
        for _ in range(EACH):
            await furnish(app, tenant)
            await _furnish_account(tenant)
            for name, made in tenant.owned.items():
                world.ids[name].append(made)
        del world.ids["note"]
        world.ids |= OF_THE_WORLD
        await tenant.http.aclose()
    return world


async def _furnish_account(tenant: Tenant) -> None:
    tenant.owned["endpoint_id"] = await tenant.made("/v1/webhook-endpoints", {"url": "http://127.0.0.1:9/"})
    await tenant.call("POST", f"/v1/webhook-endpoints/{tenant.owned['endpoint_id']}/test")
    log = (await tenant.call("GET", f"/v1/webhook-endpoints/{tenant.owned['endpoint_id']}/deliveries")).json()
    tenant.owned["delivery_id"] = log["data"][0]["id"]
    tenant.owned["suppression_id"] = await tenant.made("/v1/suppressions", {"profile_url": url(slug())})
    tenant.owned["erasure_id"] = await tenant.made("/v1/erasures", {"profile_url": url(slug())})
    tenant.owned["customer_id"] = await tenant.made("/v1/customers", {"name": "One"})
    tenant.owned["key_id"] = await tenant.made("/v1/api-keys", {"name": "Other", "scopes": sorted(Scope)})
