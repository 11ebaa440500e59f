"""Keep what would find more people on a run, and the wishes that a candidate meets.

Revision: 0012
Follows: 0011
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("suggestions", postgresql.JSONB(), nullable=True))
    op.add_column("candidates", sa.Column("nice_met", postgresql.ARRAY(postgresql.TEXT()), nullable=True))


def downgrade() -> None:
    op.drop_column("candidates", "nice_met")
    op.drop_column("runs", "suggestions")
