"""The local encoder with a tiny model: the required files and the id of its vectors."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from shared.errors import ConfigurationError
from shared.models.encoders import load_encoders
from shared.models.errors import ModelUnavailable
from shared.models.local import LocalEncoder
from tests.integration.models.encoder import WIDTH, write_encoder


async def embed_texts(folder: Path, *texts: str) -> list[list[float]]:
    """The vectors of the encoder in the folder."""
    encoder = LocalEncoder(folder)
    try:
        return await encoder.embed(texts, deadline_s=20)
    finally:
        await encoder.close()


def model_id(folder: Path) -> str:
    """The id of the encoder's vectors."""
    return LocalEncoder(folder).embedding_model_id


def pool_by(folder: Path, **modes: Any) -> None:
    """Writes the folder's configuration."""
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))


async def test_each_text_gets_one_vector_of_length_one(tmp_path: Path) -> None:
    encoder = load_encoders(str(write_encoder(tmp_path / "tiny")))
    vectors = await encoder.embed(["green tea", "龙井茶", ""], deadline_s=20)
    assert [len(each) for each in vectors] == [encoder.dimension] * 3 == [WIDTH] * 3
    assert math.isclose(sum(x * x for x in vectors[0]), 1, rel_tol=1e-6)
    found = await encoder.probe()
    assert (found.embedding, found.dimension, found.missing) == (True, WIDTH, ("chat: not_configured",))
    await encoder.close()


async def test_pooling_follows_the_configuration(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny")
    (mean,) = await embed_texts(folder, "green tea")
    green, tea = await embed_texts(folder, "green", "tea")
    pool_by(folder, pooling_mode_cls_token=True)
    assert await embed_texts(folder, "green tea") == [green]
    pool_by(folder, pooling_mode_lasttoken=True)
    assert await embed_texts(folder, "green tea") == [tea]
    assert mean not in (green, tea)


async def test_a_model_with_pooling_needs_no_configuration(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny", pools=True)
    (folder / "1_Pooling" / "config.json").unlink()
    assert len((await embed_texts(folder, "green tea"))[0]) == WIDTH


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("1_Pooling/config.json", "{}", "1_Pooling/config.json: pools by nothing"),
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "pools by pooling_mode_max_tokens"),
        ("1_Pooling/config.json", "[", "1_Pooling/config.json: is not JSON"),
        ("config.json", None, "config.json: is missing"),
        ("config.json", "{}", "config.json: hidden_size is None"),
        ("config.json", '{"hidden_size": 384}', f"config.json: hidden_size is 384, the model gives {WIDTH} numbers"),
        ("config.json", "[384]", "config.json: is not a JSON object"),
        ("tokenizer.json", None, "tokenizer.json: is missing"),
        ("tokenizer.json", "{}", "tokenizer.json: "),
        ("model.onnx", None, "contains no model*.onnx"),
        ("model.onnx", "no model", "model.onnx: "),
    ],
)
def test_an_invalid_folder_is_refused_with_its_file(
    tmp_path: Path, file: str, content: str | None, problem: str
) -> None:
    path = write_encoder(tmp_path / "tiny") / file
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        LocalEncoder(tmp_path / "tiny")
    assert str(caught.value).startswith("SMARTBRAIN_EMBEDDING_DIR: ")
    assert problem in str(caught.value)


async def test_pooling_is_the_mean_by_default(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny")
    by_note = await embed_texts(folder, "green tea")
    (folder / "1_Pooling" / "config.json").unlink()
    assert await embed_texts(folder, "green tea") == by_note


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="model and tokenizer do not match"):
        LocalEncoder(write_encoder(tmp_path / "tiny", known=2))


async def test_an_onnxruntime_error_is_unavailable(tmp_path: Path) -> None:
    encoder = LocalEncoder(write_encoder(tmp_path / "tiny", known=4))
    assert await encoder.embed(["ready? 好"], deadline_s=20)
    with pytest.raises(ModelUnavailable) as caught:
        await encoder.embed(["green tea"], deadline_s=20)  # a token outside the model's table
    assert (caught.value.reason, caught.value.problem) == ("server_error", "InvalidArgument")
    await encoder.close()
    with pytest.raises(ModelUnavailable):
        await encoder.embed(["ready?"], deadline_s=20)


def test_the_id_changes_exactly_with_what_changes_the_vectors(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny")
    first = model_id(folder)
    assert (first.partition("@")[0], len(first.partition("@")[2])) == ("tiny", 12)
    (folder / "README.md").write_text("A tiny encoder.")
    (folder / "config.json").write_text(json.dumps({"hidden_size": WIDTH, "note": "moved"}))
    pool_by(folder, pooling_mode_mean_tokens=True, include_prompt=True)
    assert model_id(folder) == first
    seen = {first}

    def is_new() -> None:
        found = model_id(folder)
        assert found not in seen
        seen.add(found)

    pool_by(folder, pooling_mode_cls_token=True)
    is_new()
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"green": 4', '"Green": 4'))
    is_new()
    (folder / "model.onnx_data").write_bytes(b"weights beside the model")
    is_new()
    write_encoder(folder, seed=8)
    is_new()
