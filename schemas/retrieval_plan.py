"""RetrievalPlan 0.1: what to look for, how, how much, and how noise is held down; on behalf of a user, and kept."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from schemas.base import NO_NUL, WORDS_PATTERN, Contract, ExternalId, HasWords, Instant, JsonObject, without_nulls
from schemas.vocabulary import Purpose, SearchMode

PLAN_VERSION = "0.1"

SourceType = Literal["url", "file", "manual", "memory_snapshot"]
Version = Annotated[str, StringConstraints(pattern=r"^0\.[0-9]{1,4}$")]
"""Any 0.x: a reader of 0.1 ignores what later minor versions add (seed 001 section 10)."""
Ids = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=NO_NUL)]], Field(max_length=500)
]
Quota = Annotated[int, Field(ge=0, le=200)]
Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class Section(Contract):
    """A part of a plan; null and absent mean the same."""

    nulls_are_absent: ClassVar[bool] = True

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_absent(cls, raw: Any) -> Any:
        return without_nulls(raw)


class TimeRange(Section):
    """A half-open interval of time; an open end is absent."""

    model_config = ConfigDict(serialize_by_alias=True)

    from_: Instant | None = Field(default=None, alias="from")
    to: Instant | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_ and self.to and self.from_ > self.to:
            raise ValueError("time_range.from must not be after time_range.to")
        return self


class Filters(Section):
    """Filters only filter; they never change what a query means (seed 001 section 4)."""

    document_ids: Ids = []
    tag_ids: Ids = []
    topic_ids: Ids = []
    source_type: list[SourceType] = []
    source_uri_prefix: Ids = []
    language: list[Literal["zh", "en"]] = []
    time_range: TimeRange | None = None


class Query(Section):
    """One question to the stores; its filters override or extend the global ones (seed 001 section 3)."""

    text: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=4000),
        HasWords,
        Field(json_schema_extra={"pattern": WORDS_PATTERN}),
    ]
    mode: SearchMode = "hybrid"
    weight: Weight = 1.0
    filters: Filters = Filters()
    hints: JsonObject = {}


class PerModeK(Section):
    """How many results each mode may bring; absent means no quota of its own (seed 001 section 5)."""

    exact: Quota | None = None
    semantic: Quota | None = None
    hybrid: Quota | None = None
    relational: Quota | None = None
    associative: Quota | None = None


class Diversity(Section):
    """At most this many results per document, section, source address and domain (seed 001 section 5, X19)."""

    by_document: Annotated[int, Field(ge=1, le=200)] = 3
    by_source: Annotated[int, Field(ge=1, le=200)] = 10
    by_section: Annotated[int, Field(ge=1, le=200)] = 1
    repeats: Annotated[bool, Field(description="A memory and the words that it comes from may both come back")] = False


class Budget(Section):
    """How much comes back and how wide the candidate pool is (seed 001 section 5)."""

    top_k: Annotated[int, Field(ge=1, le=200)] = 30
    per_mode_k: PerModeK = PerModeK()
    candidate_k: Annotated[int, Field(ge=1, le=1000)] = 200
    diversity: Diversity = Diversity()


class Fusion(Section):
    """How the arms become one order; by default by how likely each result is to help (seed 001 section 6)."""

    method: Literal["probability", "rrf", "weighted_sum", "none"] = "probability"
    rrf_k: Annotated[int, Field(ge=1, le=1000)] = 60
    weights: dict[str, Weight] = {}


class Rerank(Section):
    """Whether a model orders the best candidates again (seed 001 section 6)."""

    enabled: bool = False
    model: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)] = "qwen3-reranker"
    top_n: Annotated[int, Field(ge=1, le=200)] = 50


class Ranking(Section):
    """Fusion, reranking, what decides between equals, and how likely to help a result must be (seed 001 section 6)."""

    fusion: Fusion = Fusion()
    rerank: Rerank = Rerank()
    tie_breaker: Literal["recency", "source_priority", "none"] = "recency"
    min_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    source_priority: dict[str, Weight] = {"url": 0.9, "file": 1.0, "manual": 0.8, "memory_snapshot": 0.7}


class Output(Section):
    """What a result shows; a snippet never exceeds `max_snippet_chars` (seed 001 section 7)."""

    include_snippets: bool = True
    snippet_policy: Literal["l2", "l1", "l0", "auto"] = "auto"
    include_signals: bool = True
    include_provenance: bool = True
    include_raw: bool = False
    max_snippet_chars: Annotated[int, Field(ge=1, le=20_000)] = 800


class Caller(Section):
    """Who asks."""

    app: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)] | None = None
    session_id: Annotated[str, StringConstraints(max_length=128, pattern=NO_NUL)] | None = None


class PlanDebug(Section):
    """For whoever reads the logs (seed 001 section 8)."""

    trace: bool = False
    notes: Annotated[str, StringConstraints(max_length=4000, pattern=NO_NUL)] | None = None
    caller: Caller | None = None


class RetrievalPlan(Section):
    """A reproducible plan of retrieval: at least one query, everything else has a default (seed 001 section 2)."""

    version: Version
    request_id: Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=NO_NUL)] | None = None
    purpose: Purpose = "other"
    queries: Annotated[list[Query], Field(min_length=1, max_length=32)]
    global_filters: Filters = Filters()
    budget: Budget = Budget()
    ranking: Ranking = Ranking()
    output: Output = Output()
    debug: PlanDebug = PlanDebug()

    def filters_of(self, query: Query) -> Filters:
        """The filters that hold for `query`: its own where it has them, else the global ones."""
        own = {name: getattr(query.filters, name) for name in Filters.model_fields}
        return self.global_filters.model_copy(update={name: value for name, value in own.items() if value})


class RetrieveRequest(RetrievalPlan):
    """A plan, whose memory it searches, and whose knowledge: a tenant's, an organisation's, a profile's."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    org_id: ExternalId | None = None
    profile_id: ExternalId | None = None


class PlanView(Contract):
    """A plan that was executed: given to /v1/retrieve, whose knowledge it asked too, or made for a package."""

    plan_id: UUID
    executed_at: Instant
    plan: RetrievalPlan
    org_id: str | None = None
    profile_id: str | None = None
