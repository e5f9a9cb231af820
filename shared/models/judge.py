"""The prompt of qwen3-reranker for one text and query, and the score in its answer."""

import math
import re
from collections.abc import Mapping

from shared.language.normalise import clip
from shared.language.patterns import to_pattern

ALTERNATIVES = 20
"""The maximum number of tokens that Ollama returns."""
CONTEXT_TOKENS = 4096
MAX_QUERY_CHARS = 600
MAX_TEXT_CHARS = 1200
TASK = "Given a message of a user, judge whether the note or the earlier message helps to answer it"

_BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct"
    ' provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
_CONTROL = to_pattern(r"<(?=\||/?(?:Instruct|Query|Document|think)>)", re.IGNORECASE)


def question(query: str, text: str) -> str:
    """The model's own raw template; neither part can leave its place in it."""
    asked, found = clip_plain(query, MAX_QUERY_CHARS), clip_plain(text, MAX_TEXT_CHARS)
    return f"{_BEFORE}<Instruct>: {TASK}\n<Query>: {asked}\n<Document>: {found}{_AFTER}"


def score(logprobs: Mapping[str, float]) -> float:
    """The probability of "yes" relative to "yes" and "no"; ValueError if the model returns neither."""
    weights = {"yes": 0.0, "no": 0.0}
    for token, logprob in logprobs.items():
        word = token.strip().lower()
        if word in weights and math.isfinite(logprob):
            weights[word] += math.exp(min(logprob, 0.0))
    total = sum(weights.values())
    if total <= 0:
        raise ValueError("neither yes nor no among the likely tokens")
    return weights["yes"] / total


def clip_plain(text: str, most: int) -> str:
    return _CONTROL.sub("< ", clip(text.strip(), most))
