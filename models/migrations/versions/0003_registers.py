"""Add lists, erasures, and what suppression and erasure need of people.

Revision: 0003
Follows: 0002
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql


revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
    )
    op.create_table(
        "lists",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("description", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lists")),
    )
    op.create_index("ix_lists_tenant_id_created_at_id", "lists", ["tenant_id", "created_at", "id"], unique=False)
    op.create_table(
        "list_people",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("list_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status in ('seen', 'shortlisted', 'rejected', 'contacted', 'replied', 'interested', 'not_interested', 'hired')",
            name=op.f("ck_list_people_status"),
        ),
        sa.ForeignKeyConstraint(
            ["list_id"], ["lists.id"], name=op.f("fk_list_people_list_id_lists"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["profile_id"], ["people.id"], name=op.f("fk_list_people_profile_id_people")),
        sa.PrimaryKeyConstraint("list_id", "profile_id", name=op.f("pk_list_people")),
    )
    op.create_index(
        "ix_list_people_list_id_created_at_profile_id",
        "list_people",
        ["list_id", "created_at", "profile_id"],
        unique=False,
    )
    op.create_index("ix_list_people_profile_id", "list_people", ["profile_id"], unique=False)
    op.create_table(
        "profile_copies",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["cached_profiles.profile_id"],
            name=op.f("fk_profile_copies_profile_id_cached_profiles"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "profile_id", name=op.f("pk_profile_copies")),
    )
    op.create_index("ix_profile_copies_profile_id", "profile_copies", ["profile_id"], unique=False)
    op.add_column("idempotency_records", sa.Column("profile_ids", postgresql.ARRAY(sa.TEXT()), nullable=True))
    op.create_index(
        "ix_idempotency_records_profile_ids",
        "idempotency_records",
        ["profile_ids"],
        unique=False,
        postgresql_using="gin",
        postgresql_where=sa.text("profile_ids is not null"),
    )
    op.create_index("ix_leads_profile_id", "leads", ["profile_id"], unique=False)
    op.create_index(
        "ix_people_alias_of", "people", ["alias_of"], unique=False, postgresql_where=sa.text("alias_of is not null")
    )
    op.alter_column("person_keys", "value", existing_type=sa.VARCHAR(), nullable=True)
    op.drop_constraint(op.f("ck_person_keys_kind"), "person_keys", type_="check")
    op.create_check_constraint(op.f("ck_person_keys_kind"), "person_keys", "kind in ('source', 'url', 'email')")


def downgrade() -> None:
    op.execute("delete from person_keys where kind = 'email'")
    op.execute("update person_keys set value = '' where value is null")
    op.drop_constraint(op.f("ck_person_keys_kind"), "person_keys", type_="check")
    op.create_check_constraint(op.f("ck_person_keys_kind"), "person_keys", "kind in ('source', 'url')")
    op.alter_column("person_keys", "value", existing_type=sa.VARCHAR(), nullable=False)
    op.drop_index("ix_people_alias_of", table_name="people", postgresql_where=sa.text("alias_of is not null"))
    op.drop_index("ix_leads_profile_id", table_name="leads")
    op.drop_index(
        "ix_idempotency_records_profile_ids",
        table_name="idempotency_records",
        postgresql_using="gin",
        postgresql_where=sa.text("profile_ids is not null"),
    )
    op.drop_column("idempotency_records", "profile_ids")
    op.drop_index("ix_profile_copies_profile_id", table_name="profile_copies")
    op.drop_table("profile_copies")
    op.drop_index("ix_list_people_profile_id", table_name="list_people")
    op.drop_index("ix_list_people_list_id_created_at_profile_id", table_name="list_people")
    op.drop_table("list_people")
    op.drop_index("ix_lists_tenant_id_created_at_id", table_name="lists")
    op.drop_table("lists")
    op.drop_table("erasures")
