"""x"""


def schemas() -> None:
    """x"""
