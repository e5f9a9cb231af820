"""The policy of erasures."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from shared import workdays
from shared.policy.base import Slice


class LegalProfile(Slice):
    """Deadline of an erasure, and when alerts are raised.

    The day of the request does not count; the deadline has the same time of day; days are in UTC. With a calendar, the
    holidays of that country are not working days, and weekend days worked instead (调休) are. Without one, holidays do
    not extend the deadline, so it is usually earlier, except by a day or two in weeks after such working weekends. The
    remaining time is a share of calendar time, including weekends.
    """

    days: int = Field(ge=1, le=3660, description="Days between request and deadline")
    type: Literal["business", "calendar"] = Field(description="`business`: working days; `calendar`: all days")
    calendar: str = Field(
        default="", description="Country whose holidays count (`CN`, `US-CA`); empty: only weekends are excluded"
    )
    warn_pct: float = Field(default=25.0, gt=0, lt=100, description="Below this share of remaining time, a ticket")
    critical_pct: float = Field(default=10.0, gt=0, lt=100, description="Below this share, a page")
    source: str = Field(default="", description="Legal source of the number of days")

    @field_validator("calendar")
    @classmethod
    def _has_days(cls, calendar: str) -> str:
        if not workdays.is_known(calendar):
            raise ValueError(
                f"unknown calendar {calendar!r}: give a country code such as CN, or a region such as US-CA"
            )
        return calendar

    @model_validator(mode="after")
    def _tells_in_order(self) -> Self:
        if self.critical_pct >= self.warn_pct:
            raise ValueError(f"critical_pct: {self.critical_pct:g} is not less than warn_pct, {self.warn_pct:g}")
        return self


def _legal_profiles() -> dict[str, LegalProfile]:
    return {
        "DEFAULT": LegalProfile(days=15, type="business", source="house rule: as PIPL"),
        "PIPL": LegalProfile(
            days=15, type="business", source="PIPL art. 47, 50; 15 working days: 国信办秘字〔2019〕191号 art. 6"
        ),
        "GDPR": LegalProfile(days=30, type="calendar", source="GDPR art. 12(3), 17: one month"),
        "CCPA": LegalProfile(days=45, type="calendar", source="Cal. Civ. Code § 1798.130(a)(2): 45 days"),
    }


class ErasurePolicy(Slice):
    """Deadlines of erasures, and retries after failures."""

    profile: str = Field(default="DEFAULT", description="Profile of a request that names none")
    profiles: dict[str, LegalProfile] = Field(
        default_factory=_legal_profiles, description="Legal profiles by name; a given list replaces this one"
    )
    holidays: tuple[date, ...] = Field(default=(), description="Dates that are not working days in any profile")
    batch_rows: int = Field(default=5000, ge=1, description="Rows erased in one transaction")
    attempts_max: int = Field(default=5, ge=0, description="Retries after a failure; then the erasure is escalated")
    retry_after_s: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(1, 5, 30, 120, 600), min_length=1, description="Pauses before retries; the last one repeats"
    )
    check_every_s: float = Field(default=60.0, gt=0, description="Seconds between two checks of deadlines")

    @model_validator(mode="after")
    def _knows_its_profile(self) -> Self:
        if self.profile not in self.profiles:
            raise ValueError(f"profile: {self.profile!r} is none of {', '.join(self.profiles)}")
        return self
