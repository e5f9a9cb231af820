"""What every part of the policy is."""

from pydantic import BaseModel, ConfigDict


class Slice(BaseModel):
    """A part of the policy; a name that it does not know is an error, so that a typing mistake cannot hide."""

    model_config = ConfigDict(frozen=True, extra="forbid")
