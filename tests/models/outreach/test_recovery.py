"""How old a backup is shows in its newest row."""

from models.access.tables import Workspace
from models.base.database import Database
from models.operate import recovery
from tests.models.conftest import join


async def test_the_newest_row_says_how_old_a_backup_is(database: Database) -> None:
    async with database.transaction() as session:
        assert await recovery.last_stamp(session) is None
    member = await database.run(join)
    async with database.transaction() as session:
        workspace = await session.get_one(Workspace, member.tenant.workspace_id)
        stamp = await recovery.last_stamp(session)
        assert stamp is not None
        assert stamp >= workspace.created_at
