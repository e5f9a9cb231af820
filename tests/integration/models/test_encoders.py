"""Several local encoders: each text goes to those for its language, a question to all."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.errors import ConfigurationError
from shared.models.encoders import folders, load_encoders
from shared.models.local import LocalEncoder
from shared.vectors import LANGUAGES
from tests.integration.models.encoder import WIDTH, write_encoder

EN, ZH, BOTH = "I like green tea.", "我喜欢喝龙井茶。", "I like green tea and rain 我每天都喝龙井茶和红茶"


def two(tmp_path: Path, *, named: bool = True) -> str:
    """The setting that names an encoder for each language."""
    english = write_encoder(tmp_path / "english", seed=1)
    chinese = write_encoder(tmp_path / "chinese", seed=2)
    return os.pathsep.join([f"en={english}", f"zh={chinese}"] if named else [str(english), str(chinese)])


def note(folder: Path, file: str, **values: Any) -> None:
    (folder / file).write_text(json.dumps(values))


def test_the_setting_names_folders_and_languages(tmp_path: Path) -> None:
    one, other = tmp_path / "a=b", tmp_path / "c"
    one.mkdir()
    other.mkdir()
    assert folders(str(one)) == [(None, one)]
    assert folders(f"{one}{os.pathsep} zh={other} {os.pathsep}") == [(None, one), ("zh", other)]


@pytest.mark.parametrize("named", [os.pathsep, "zh=", "/nowhere/at/all"])
def test_a_setting_without_a_folder_is_refused(named: str) -> None:
    with pytest.raises(ConfigurationError, match="SMARTBRAIN_EMBEDDING_DIR"):
        load_encoders(named)


def test_a_duplicate_encoder_is_refused(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny")
    with pytest.raises(ConfigurationError, match="twice"):
        load_encoders(f"{folder}{os.pathsep}{folder}")


async def test_each_text_goes_to_the_encoder_of_its_language(tmp_path: Path) -> None:
    encoders = load_encoders(two(tmp_path))
    english, chinese = encoders.embedding_model_id.split("+")
    assert encoders.embedding_model_ids == {english, chinese, f"{english}+{chinese}"}
    kept = await encoders.embed_kept([EN, ZH, BOTH, "12345"], deadline_s=20)
    assert [each.model_id for each in kept] == [english, chinese, *[encoders.embedding_model_id] * 2]
    assert [len(each.vector or ()) for each in kept] == [WIDTH, WIDTH, 2 * WIDTH, 2 * WIDTH]
    await encoders.close()


async def test_a_question_has_a_vector_of_every_encoder(tmp_path: Path) -> None:
    encoders = load_encoders(two(tmp_path))
    assert encoders.dimension == 2 * WIDTH
    for text in (EN, ZH, BOTH):
        (question,) = await encoders.embed([text], deadline_s=20)
        views = encoders.views(question)
        (kept,) = await encoders.embed_kept([text], deadline_s=20)
        assert views.keys() == encoders.embedding_model_ids == (await encoders.scales(deadline_s=1)).keys()
        assert float(np.dot(views[kept.model_id], kept.vector or ())) == pytest.approx(1)
        assert all(float(np.dot(view, view)) == pytest.approx(1) for view in views.values())
    await encoders.close()


async def test_a_text_without_an_encoder_has_no_vector(tmp_path: Path) -> None:
    encoders = load_encoders(f"en={write_encoder(tmp_path / 'english')}")
    english, chinese, mixed, none = await encoders.embed_kept([EN, ZH, BOTH, "12345"], deadline_s=20)
    assert None not in (english.vector, mixed.vector, none.vector)
    assert chinese.vector is None, "static vectors know more of it than an encoder of another language"
    assert {each.model_id for each in (english, chinese, mixed, none)} == {encoders.embedding_model_id}
    await encoders.close()


def test_an_encoder_without_languages_reads_all(tmp_path: Path) -> None:
    assert LocalEncoder(write_encoder(tmp_path / "tiny")).languages == LANGUAGES


async def test_the_maximum_length_is_in_the_folder(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny")
    long, short = "green " * 40 + "tea " * 400, "green " * 40

    async def same() -> bool:
        encoder = LocalEncoder(folder)
        one, other = await encoder.embed([long, short], deadline_s=20)
        await encoder.close()
        return bool(np.allclose(one, other))

    assert not await same()
    note(folder, "sentence_bert_config.json", max_seq_length=40)
    assert await same()
    note(folder, "sentence_bert_config.json", max_seq_length=100_000)
    note(folder, "tokenizer_config.json", model_max_length=40)
    assert await same()


@pytest.mark.parametrize("file", ["sentence_bert_config.json", "tokenizer_config.json"])
async def test_case_sensitivity_is_in_the_folder(tmp_path: Path, file: str) -> None:
    folder = write_encoder(tmp_path / "tiny")

    async def vectors() -> list[list[float]]:
        encoder = LocalEncoder(folder)
        found = await encoder.embed(["Green TEA", "green tea"], deadline_s=20)
        await encoder.close()
        return found

    before, told_apart = LocalEncoder(folder).embedding_model_id, await vectors()
    assert told_apart[0] != told_apart[1]
    note(folder, file, do_lower_case=True)
    one, other = await vectors()
    assert one == other == told_apart[1]
    assert LocalEncoder(folder).embedding_model_id != before
