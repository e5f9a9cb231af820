"""The static encoder: similar meanings have similar vectors, within and between the two languages."""

import hashlib
import json

import numpy as np
import pytest

from shared.classifiers.static_encoder import FOLDER, MAX_CHARS, load_static_encoder

MEGABYTES = 10


def cosine(one: str, other: str) -> float:
    encoder = load_static_encoder()
    return float(encoder.encode(one) @ encoder.encode(other))


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("When is dad's operation?", "My father's knee surgery is on the 14th", "Sure, here's a draft."),
        ("I love hiking", "walks in the mountains are my favourite", "the invoice is due on Friday"),
        ("what does she do for a living", "my sister works as a nurse", "it rained all weekend"),
        ("我住在哪里", "下个月搬到杭州滨江的新房子去", "晚饭想吃火锅"),
        ("孩子的学习情况", "女儿期中考试数学考了九十五分", "这台洗衣机声音太大了"),
        ("最近身体怎么样", "医生说血压有点高，让我少吃盐", "航班改到下午三点了"),
        ("我对花生过敏", "I am allergic to peanuts", "The meeting is on Friday"),
        ("Which hotel did we book?", "酒店订好了，住三个晚上", "他的钢琴弹得不错"),
        ("数据库用哪个", "we keep the data in a Postgres database", "今天天气真好"),
    ],
)
def test_a_paraphrase_is_nearer_than_another_statement(text: str, same: str, other: str) -> None:
    assert cosine(text, same) > cosine(text, other) + 0.1


def test_a_vector_has_unit_length_and_that_of_unknown_text_is_zero() -> None:
    encoder = load_static_encoder()
    vector = encoder.encode("We moved to Leeds 去年春天")
    assert vector.shape == (encoder.dimension,)
    assert vector.dtype == np.float32
    assert float(vector @ vector) == pytest.approx(1.0, abs=1e-5)
    for nothing in ("", "   ", "？！……", "🙂🙂", "ﷺ"):
        assert not encoder.encode(nothing).any()


@pytest.mark.parametrize(
    ("one", "other"), [("Café", "cafe"), ("ＡＢＣ 123", "abc 123"), ("BEIJING", "beijing"), ("Zürich", "zurich")]
)
def test_case_accents_and_width_make_no_difference(one: str, other: str) -> None:
    assert cosine(one, other) == pytest.approx(1.0, abs=1e-5)


def test_text_beyond_the_maximum_length_is_ignored() -> None:
    encoder = load_static_encoder()
    text = "tea and cake " * 200
    assert len(text) > MAX_CHARS
    assert (encoder.encode(text) == encoder.encode(text + "the invoice is due")).all()


def test_the_folder_is_small_and_its_id_reflects_its_content() -> None:
    files = [FOLDER / name for name in ("model.safetensors", "tokenizer.json")]
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= MEGABYTES * 1_000_000
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    assert json.loads((FOLDER / "config.json").read_text())["model_id"] == f"static-zh-en@{digest}"
