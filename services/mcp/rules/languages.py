"""The supported languages."""

from typing import Literal

Spoken = Literal["en", "zh"]
