"""Every table of the database: importing this module registers all metadata and all kinds of waiting rows."""

from models.access import tables as access
from models.base import tables as base
from models.base.tables import WAITING
from models.billing import tables as billing
from models.events import tables as events
from models.market import tables as market
from models.outreach import tables as outreach
from models.people import tables as people
from models.sourcing import tables as sourcing

__all__ = ["WAITING", "access", "base", "billing", "events", "market", "outreach", "people", "sourcing"]
