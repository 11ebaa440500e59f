"""Routes of lookups."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.sourcing import lookups
from api.sourcing.lookups_schemas import (
    AreaView,
    CompanyView,
    FilterValue,
    FindArea,
    FindCompanies,
    FindFilterValues,
    FindLocations,
    LocationView,
)

router = Router(tags=["Lookups"])


@router.get("/lookups/locations", operation_id="lookups.locations", response_model=Listing[LocationView])
async def find_locations(ask: Annotated[FindLocations, Query()], invoke: Invoke) -> Response:
    """Every place a name can mean, best first. Free."""
    return await invoke(lookups.find_locations, ask)


@router.get("/lookups/areas", operation_id="lookups.areas", response_model=AreaView)
async def find_area(ask: Annotated[FindArea, Query()], invoke: Invoke) -> Response:
    """The location ids within a radius of a town. Free."""
    return await invoke(lookups.find_area, ask)


@router.get("/lookups/companies", operation_id="lookups.companies", response_model=Listing[CompanyView])
async def find_companies(ask: Annotated[FindCompanies, Query()], invoke: Invoke) -> Response:
    """Companies by name or domain. Free."""
    return await invoke(lookups.find_companies, ask)


@router.get("/lookups/filter-values", operation_id="lookups.filter_values", response_model=Listing[FilterValue])
async def find_filter_values(ask: Annotated[FindFilterValues, Query()], invoke: Invoke) -> Response:
    """The values that a filter takes. Free."""
    return await invoke(lookups.find_filter_values, ask)
