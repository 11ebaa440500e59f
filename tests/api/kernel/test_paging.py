"""Lists: every row once, whatever is added meanwhile; cursors that belong to a list and its filters."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from models.base.paging import Cursors
from tests.api.conftest import Workspace, error_of

SignUp = Callable[[], Awaitable[Workspace]]


async def add(workspace: Workspace, count: int, prefix: str = "c") -> list[str]:
    """Customers, oldest first."""
    made = []
    for number in range(count):
        answer = await workspace.http.post("/v1/customers", json={"name": f"{prefix}{number}"})
        made.append(answer.json()["id"])
    return made


async def page(workspace: Workspace, **query: Any) -> dict[str, Any]:
    answer = await workspace.http.get("/v1/customers", params=query)
    assert answer.status_code == 200, answer.text
    read: dict[str, Any] = answer.json()
    assert read["object"] == "list"
    assert read["has_more"] is (read["next_cursor"] is not None)
    return read


def ids(read: dict[str, Any]) -> list[str]:
    return [row["id"] for row in read["data"]]


async def test_pages_hold_every_row_once_newest_first(workspace: Workspace) -> None:
    made = await add(workspace, 7)
    seen, cursor = [], None
    for expected in (3, 3, 1):
        read = await page(workspace, limit=3, **({"cursor": cursor} if cursor else {}))
        assert len(read["data"]) == expected
        seen += ids(read)
        cursor = read["next_cursor"]
    assert cursor is None
    assert seen == made[::-1]


async def test_an_exactly_full_page_is_the_last(workspace: Workspace) -> None:
    await add(workspace, 3)
    assert (await page(workspace, limit=3))["has_more"] is False


async def test_rows_added_while_paging_are_neither_repeated_nor_hide_others(workspace: Workspace) -> None:
    made = await add(workspace, 4)
    first = await page(workspace, limit=2)
    await add(workspace, 3, "late")
    second = await page(workspace, limit=2, cursor=first["next_cursor"])
    assert ids(first) + ids(second) == made[::-1]


async def test_25_rows_are_shown_when_nothing_is_said(workspace: Workspace) -> None:
    await add(workspace, 26)
    assert len((await page(workspace))["data"]) == 25


async def test_moments_bound_a_list_exclusively(workspace: Workspace) -> None:
    made = await add(workspace, 3)
    rows = {row["id"]: row["created_at"] for row in (await page(workspace))["data"]}
    middle = rows[made[1]]
    assert ids(await page(workspace, created_after=middle)) == [made[2]]
    assert ids(await page(workspace, created_before=middle)) == [made[0]]
    assert ids(await page(workspace, created_after="2000-01-01")) == made[::-1]


async def test_a_cursor_sent_with_other_filters_starts_over(workspace: Workspace) -> None:
    made = await add(workspace, 4)
    cursor = (await page(workspace, limit=2))["next_cursor"]
    assert ids(await page(workspace, limit=2, cursor=cursor, created_after="2000-01-01")) == made[::-1][:2]


async def test_another_limit_goes_on_from_the_same_place(workspace: Workspace) -> None:
    made = await add(workspace, 5)
    cursor = (await page(workspace, limit=1))["next_cursor"]
    assert ids(await page(workspace, limit=100, cursor=cursor)) == made[::-1][1:]


async def test_the_cursor_of_another_list_or_tenant_is_refused(workspace: Workspace, sign_up: SignUp) -> None:
    await add(workspace, 2)
    cursor = (await page(workspace, limit=1))["next_cursor"]
    other = await sign_up()
    for http, path in ((workspace.http, "/v1/api-keys"), (workspace.http, "/v1/runs"), (other.http, "/v1/customers")):
        error_of(await http.get(path, params={"cursor": cursor}), 400, "invalid_request", "cursor")


def damaged(cursor: str) -> list[str]:
    other = "B" if cursor[20] == "A" else "A"
    return [cursor[:-1], cursor[1:], cursor + "A", cursor[:20] + other + cursor[21:], cursor[::-1], "", "ü", "AAAA"]


async def test_a_damaged_cursor_is_refused(workspace: Workspace) -> None:
    await add(workspace, 2)
    cursor = (await page(workspace, limit=1))["next_cursor"]
    for wrong in damaged(cursor):
        answer: httpx.Response = await workspace.http.get("/v1/customers", params={"cursor": wrong})
        error_of(answer, 400, "invalid_request", "cursor")


def test_a_cursor_cannot_be_made_without_the_key() -> None:
    ours = Cursors(b"a" * 32, list_name="runs.list/ws_1/", filters={})
    theirs = Cursors(b"b" * 32, list_name="runs.list/ws_1/", filters={})
    with pytest.raises(Exception, match="damaged"):
        ours.read(theirs.write(("x", 1)))
