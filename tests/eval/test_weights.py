"""The corpus and the weights fitted to it: every line is valid, and the weights have all classes."""

import pytest

from schemas.vocabulary import FeedbackSignal, Intent, MemoryType
from shared.classifiers.network import NAMES, load
from tests.training import corpus

CLASSES = {
    "statements": {"none", "correction", "for", "against", *MemoryType.__args__} - {"summary", "agent_experience"},
    "feedback": set(FeedbackSignal.__args__),
    "intents": set(Intent.__args__),
    "relations": {"none", "ends", "same", "both"},
    "hostile": {"none", "order"},
}


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_have_every_class(name: str) -> None:
    network = load(name)
    assert set(network.classes) == CLASSES[name]
    assert network.grams.shape == (len(network.vocabulary.hashes) + 1, 3 * len(network.hidden))


def test_the_corpus_is_valid() -> None:
    messages = corpus.messages()
    labels = {span.label for message in messages for span in message.spans} - {corpus.SOME}
    assert labels == CLASSES["statements"] - {"none", "for", "against"}
    assert len(messages) > 10_000
    assert sum(not message.spans for message in messages) > 0.3 * len(messages)


def test_an_unclosed_tag_is_named() -> None:
    with pytest.raises(ValueError, match="open tag"):
        corpus.tagged("<goal>read more books")


def test_the_weights_were_fitted_to_this_corpus() -> None:
    network = load("statements")
    right = wrong = 0
    for message in corpus.messages()[::25]:
        rows = corpus.statement_rows(message)
        if not rows:
            continue
        for row, shares in zip(
            rows, network.shares([network.find_rows(row.grams) for row in rows]).tolist(), strict=True
        ):
            if row.labels[0] is not None:
                likeliest = network.groups[0][max(range(len(network.groups[0])), key=shares.__getitem__)]
                met = likeliest != corpus.NONE if row.labels[0] == corpus.SOME else likeliest == row.labels[0]
                right, wrong = right + met, wrong + (not met)
    assert right / (right + wrong) > 0.93
