"""The tenant or user to which the figures are limited, if the address names one."""

from services.console.page import ConsolePage


def find_whom(page: ConsolePage) -> dict[str, str]:
    """The query for compose."""
    named = {"tenant_id": page.ask("tenant"), "user_id": page.ask("user")}
    return {name: value for name, value in named.items() if value}
