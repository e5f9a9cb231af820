"""The owner of data: a user of a tenant."""

from typing import NamedTuple


class Subject(NamedTuple):
    """Whose rows: every statement over user data names both."""

    tenant_id: str
    user_id: str

    @property
    def params(self) -> dict[str, str]:
        """Both, as statements name them."""
        return {"tenant": self.tenant_id, "user": self.user_id}
