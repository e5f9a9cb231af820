"""The languages in which everything that is read stands."""

from typing import Literal

Spoken = Literal["en", "zh"]
