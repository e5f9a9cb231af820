"""What the analyzer goes by."""

from pydantic import Field

from shared.policy.base import Slice


class AnalysisPolicy(Slice):
    """How a statement is related to what is known where keys, words and learned weights lead to no memory.

    The six nearest memories are found by their vectors. From `similarity` on two texts say the same, unless a
    denial, a number, another thing of one sort or the opposite liking speaks against it; from 0.6 on they are
    compared. Where the rules are in doubt the chat model judges at most six memories: `ends`, `same`, `both`,
    `apart`. A verdict never ends what the user confirmed.
    """

    similarity: float = Field(
        default=0.85, gt=0, le=1, description="Cosine of two vectors from which two texts say the same"
    )
    doubt_low: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Probability of a relation from which the chat model is asked, where the rules do not act on it",
    )
    use_model: bool = Field(
        default=True, description="Whether the chat model is asked; `observer.use_model` must allow it too"
    )
    prompt: str = Field(
        default="analysis-1", description="Version of the question (`analysis-1`); an unknown name stops the analyzer"
    )
    deadline_s: float = Field(default=10.0, gt=0, description="Time for one question, and for one vector")
