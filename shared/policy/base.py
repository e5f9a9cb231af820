"""The base of all parts of the policy."""

from pydantic import BaseModel, ConfigDict


class Slice(BaseModel):
    """A part of the policy; an unknown name is an error, so that typing mistakes are found."""

    model_config = ConfigDict(frozen=True, extra="forbid")
