"""Tenants: the account itself or one of its customers. Every query takes one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tenant:
    """The account (`customer_id` null) or one customer of it."""

    workspace_id: str
    customer_id: str | None = None

    @property
    def id(self) -> str:
        """What rows carry as `tenant_id`."""
        return self.customer_id or self.workspace_id


def customer_of(tenant_id: str) -> str | None:
    """The customer a `tenant_id` means, null for the account itself."""
    return tenant_id if tenant_id.startswith("cus_") else None
