"""Of whom the figures of operations are: of a tenant or a user where the address names one."""

from services.console.page import ConsolePage


def find_whom(page: ConsolePage) -> dict[str, str]:
    """The query by which compose is asked."""
    named = {"tenant_id": page.ask("tenant"), "user_id": page.ask("user")}
    return {name: value for name, value in named.items() if value}
