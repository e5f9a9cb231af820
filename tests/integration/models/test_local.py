"""The local encoder, with the folder in SMARTBRAIN_EMBEDDING_DIR."""

import math
import os
import time
from pathlib import Path

import pytest

from shared.models.errors import ModelUnavailable
from shared.models.factory import make_models
from shared.models.local import LocalEncoder

FOLDER = os.environ.get("SMARTBRAIN_EMBEDDING_DIR", "").rstrip("/")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="SMARTBRAIN_EMBEDDING_DIR names no folder; an encoder is too large to ship with the tests"
)


async def test_a_vector_has_length_one_and_does_not_depend_on_its_batch() -> None:
    encoder = LocalEncoder(Path(FOLDER))
    alone = await encoder.embed(["I like green tea."], deadline_s=30)
    among = await encoder.embed(["x" * 2000, "I like green tea.", "我喜欢喝龙井茶"], deadline_s=30)
    assert among[1] == alone[0]
    assert len(alone[0]) == encoder.dimension
    assert math.isclose(sum(x * x for x in alone[0]), 1, rel_tol=1e-6)
    await encoder.close()


async def test_similar_meanings_have_similar_vectors() -> None:
    encoder = LocalEncoder(Path(FOLDER))
    tea, brew, ledger = await encoder.embed(
        ["I like tea", "My favourite drink is green tea", "The ledger uses PostgreSQL"], deadline_s=30
    )
    assert sum(a * b for a, b in zip(tea, brew, strict=True)) > sum(a * b for a, b in zip(tea, ledger, strict=True))
    await encoder.close()


async def test_its_id_contains_the_folder_and_the_weights() -> None:
    models = make_models(None, None, None, Path(FOLDER), 1024, time.monotonic)
    name, _, digest = str(models.embedding_model_id).partition("@")
    assert (name, len(digest)) == (FOLDER.rsplit("/", 1)[-1], 12)
    found = await models.probe()
    assert (found.embedding, found.dimension, found.missing) == (True, models.dimension, ("chat: not_configured",))
    await models.close()


async def test_a_missed_deadline_is_unavailable() -> None:
    encoder = LocalEncoder(Path(FOLDER))
    with pytest.raises(ModelUnavailable) as caught:
        await encoder.embed(["a long list"] * 5000, deadline_s=0.01)
    assert caught.value.reason == "timeout"
    await encoder.close()
