"""The steps of a run as transactions: decide what is next, keep a page, deliver a chunk, put off, fail.

Every write is fenced by `call_number`: a call whose number is no longer the run's changes nothing, so that a step that
runs twice, late or at the same time as another ends in the same candidates and the same ledger.
"""

from models.stores.run_steps.deciding import Decision, Need, decide
from models.stores.run_steps.delivering import ChunkAsk, begin_profiles, deliver
from models.stores.run_steps.pages import PageAsk, PageRead, begin_ahead, begin_page, keep_page
from models.stores.run_steps.setbacks import put_off, still_queued, unusable

__all__ = [
    "ChunkAsk",
    "Decision",
    "Need",
    "PageAsk",
    "PageRead",
    "begin_ahead",
    "begin_page",
    "begin_profiles",
    "decide",
    "deliver",
    "keep_page",
    "put_off",
    "still_queued",
    "unusable",
]
