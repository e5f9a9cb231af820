"""The policy of the analyzer."""

from pydantic import Field

from shared.policy.base import Slice


class AnalysisPolicy(Slice):
    """How a statement is compared with memories if keys, words and learned weights find none.

    The six nearest memories are found by their vectors. Above `similarity` two texts say the same, unless a denial, a
    number, another item of the same kind or the opposite liking contradicts that; above 0.6 they are compared. If the
    rules are in doubt, the chat model judges at most six memories: `ends`, `same`, `both`, `apart`. A verdict never
    ends a confirmed memory.
    """

    similarity: float = Field(default=0.85, gt=0, le=1, description="Cosine above which two texts say the same")
    doubt_low: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Probability of a relation above which the chat model is asked, if the rules do not act on it",
    )
    use_model: bool = Field(
        default=True, description="Whether to ask the chat model; `observer.use_model` must allow it too"
    )
    prompt: str = Field(
        default="analysis-1", description="Version of the prompt (`analysis-1`); an unknown name stops the analyzer"
    )
    deadline_s: float = Field(default=10.0, gt=0, description="Time for one question to the model, and for one vector")
