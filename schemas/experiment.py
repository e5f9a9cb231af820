"""Which experiment a request belongs to (seed 004 section 2.2.1): chosen outside, followed here, told again."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from schemas.base import Contract

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$")]
"""The name of a variant, of a version: letters, digits and _ . : - alone, so that it holds no words of a user."""


class ExperimentDimensions(Contract):
    """What the variant differs in; a value that is not known here is ignored and named, and the default holds."""

    brain_routing: Name | None = Field(default=None, description="Who plans: rules or model")
    prompt_version: Name | None = Field(default=None, description="Version of the observer's question to the model")


class ExperimentContext(Contract):
    """One experiment and the variant that this request is in."""

    experiment_id: UUID
    variant: Name
    dimensions: ExperimentDimensions = ExperimentDimensions()


class GenerationMetadata(Contract):
    """What joins a package with its experiment: the variant, the id to trace it by, and what could not be followed."""

    experiment_id: UUID
    variant: Name
    trace_id: str = Field(description="The request's request_id, which the log carries too")
    planner: str = Field(description="Who planned: rules or model")
    ignored: tuple[str, ...] = Field(default=(), description="Dimensions that named nothing known here")
