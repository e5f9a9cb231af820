"""Vectors as bytes, as codes, and on one scale, with little loss."""

import numpy as np
import pytest

from shared import vectors
from shared.language.normalise import list_languages
from shared.vectors import Scale

DIMENSION = 256


def make_vectors(count: int, seed: int, dimension: int = DIMENSION) -> vectors.Reals:
    """Unit vectors around forty topics, like those of texts."""
    dice = np.random.default_rng(seed)
    subjects = dice.normal(size=(40, dimension))
    rows = subjects[dice.integers(0, 40, count)] * 0.8 + dice.normal(size=(count, dimension))
    return vectors.to_units(rows.astype(np.float16))


def test_a_stored_vector_keeps_its_direction() -> None:
    rows = make_vectors(50, 1)
    kept = b"".join(vectors.to_bytes(each) for each in rows)
    assert len(kept) == 50 * DIMENSION
    found = vectors.cosines(vectors.from_bytes(kept, DIMENSION), rows[3])
    assert found == pytest.approx(rows @ rows[3], abs=0.01)


def test_a_zero_vector_is_similar_to_nothing() -> None:
    nothing = np.zeros(DIMENSION, dtype=np.float32)
    kept = vectors.to_bytes(nothing) + vectors.to_bytes(make_vectors(1, 2)[0])
    assert vectors.cosines(vectors.from_bytes(kept, DIMENSION), make_vectors(1, 2)[0]).tolist() == pytest.approx(
        [0, 1], abs=0.01
    )
    coded = vectors.estimates(vectors.to_codes(np.stack([nothing, nothing])), make_vectors(1, 2)[0])
    assert coded.tolist() == [0, 0]


@pytest.mark.parametrize("dimension", [256, 384, 901])
def test_codes_find_the_nearest_of_ten_thousand(dimension: int) -> None:
    rows, questions = make_vectors(10_000, 3, dimension), make_vectors(20, 4, dimension)
    codes = vectors.to_codes(rows)
    assert len(codes) == 10_000 * vectors.code_size(dimension)
    missed = 0
    for question in questions:
        exact, guessed = rows @ question, vectors.estimates(codes, question)
        assert np.abs(guessed - exact).max() < 0.05
        assert float((guessed - exact).std()) < 0.008
        assert abs(float((guessed - exact).mean())) < 0.001
        nearest, found = np.argsort(-exact), np.argsort(-guessed)
        missed += len(set(nearest[:50].tolist()) - set(found[:100].tolist()))
    assert missed < 20 * 50 * 0.05


def test_codes_are_deterministic() -> None:
    assert vectors.to_codes(make_vectors(3, 5)) == b"".join(
        vectors.to_codes(make_vectors(3, 5)[n : n + 1]) for n in range(3)
    )


def test_on_the_scale_unrelated_texts_are_zero_and_paraphrases_one() -> None:
    assert len(vectors.sentences()) == 2 * len(vectors.sentences(("en",))) == 2 * len(vectors.sentences(("zh",)))
    half = len(vectors.sentences(("en",))) // 2
    rows = np.repeat(np.eye(2 * half, dtype=np.float32), 2, axis=0)
    assert vectors.scale_of(rows) == Scale(0.0, 1.0)
    assert Scale(0.4, 0.8).lift(np.array([0.4, 0.6, 0.8, 0.3], dtype=np.float32)).tolist() == pytest.approx(
        [0, 0.5, 1, -0.25]
    )


def test_a_model_without_discrimination_gives_bounded_scores() -> None:
    flat = vectors.scale_of(np.ones((len(vectors.sentences()), 1), dtype=np.float32))
    assert flat.lift(np.ones(1, dtype=np.float32)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("I like green tea.", ("en",)),
        ("我喜欢喝龙井茶。", ("zh",)),
        ("我们用 Docker 部署服务，昨天又重启了一次。", ("zh",)),
        ("She lives in 杭州 now, near the lake.", ("en",)),
        ("We talked about the budget 然后我们决定下个月再看看", ("en", "zh")),
        ("12345 !!!", ()),
        ("これはペンです", ()),
    ],
)
def test_a_text_is_in_the_languages_of_most_of_its_words(text: str, languages: tuple[str, ...]) -> None:
    assert list_languages(text) == languages
