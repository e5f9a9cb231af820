"""ContentBlock 1.1: valid messages of text and media, and the paths in errors."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from schemas.compose import ComposeRequest, IncomingMessage
from schemas.content import MAX_BLOCKS, ContentBlock, MediaState
from schemas.turn_events import Message, TurnEvents
from shared.parsing import problems
from tests.unit.schemas.examples import schema_of

TEXT = {"type": "text", "text": "看看这个 and tell me"}
IMAGE = {"type": "image", "media_id": "m-1", "text_fallback": "一张西湖的照片"}
WHOSE = {"user_id": "u", "session_id": "s"}

VALID: list[list[dict[str, Any]]] = [
    [TEXT],
    [IMAGE],
    [TEXT, IMAGE, TEXT],
    [{**TEXT, "text_fallback": "look", "media_id": None, "recognized_text": None}],
    [{**IMAGE, "text": None, "metadata": None}],
    *(
        [{**IMAGE, "type": kind, "recognized_text": "Receipt 77541"}]
        for kind in ("image", "audio", "video", "document")
    ),
    *(
        [{**IMAGE, "security_status": state}]
        for state in ("pending", "scanning", "safe", "rejected", "quarantined", "expired")
    ),
    [{**IMAGE, "metadata": {"width": 640, "camera": {"name": "相机"}}}],
    [IMAGE] * MAX_BLOCKS,
]
INVALID: list[tuple[Any, str]] = [
    ([], ""),
    (None, ""),
    (7, ""),
    ({"type": "text", "text": "hi"}, ""),
    ([IMAGE] * (MAX_BLOCKS + 1), ""),
    (["hi"], "0"),
    ([TEXT, None], "1"),
    ([{"text": "hi"}], "0.type"),
    ([{"type": "gif", "media_id": "m", "text_fallback": "x"}], "0.type"),
    ([{"type": "text"}], "0.text"),
    ([{"type": "text", "text": ""}], "0.text"),
    ([{"type": "text", "text": "a\x00b"}], "0.text"),
    ([{"type": "text", "text": "字" * 200_001}], "0.text"),
    ([{"type": "text", "text": "hi", "media_id": "m", "text_fallback": "hi"}], "0.media_id"),
    ([{**TEXT, "recognized_text": "他说"}], "0.recognized_text"),
    ([{**TEXT, "security_status": "safe"}], "0.security_status"),
    ([TEXT, {"type": "image", "media_id": None, "text_fallback": "x"}], "1.media_id"),
    ([TEXT, TEXT, {"type": "audio", "media_id": "", "text_fallback": "录音"}], "2.media_id"),
    ([{**IMAGE, "media_id": "a\nb"}], "0.media_id"),
    ([{**IMAGE, "media_id": "m" * 257}], "0.media_id"),
    ([{"type": "video", "media_id": "m"}], "0.text_fallback"),
    ([{**IMAGE, "text_fallback": " \n"}], "0.text_fallback"),
    ([{**IMAGE, "text": "一只猫"}], "0.text"),
    ([{**IMAGE, "security_status": "clean"}], "0.security_status"),
    ([{**IMAGE, "metadata": {"security_status": "clean"}}], "0.security_status"),
    ([{**IMAGE, "metadata": "wide"}], "0.metadata"),
    ([{**IMAGE, "metadata": {"a": ["\x00"]}}], "0.metadata"),
    ([{**IMAGE, "recognized_text": ["a"]}], "0.recognized_text"),
]


@pytest.mark.parametrize("content", VALID)
@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_blocks_are_accepted_in_any_role_and_survive_serialisation(role: str, content: list[dict[str, Any]]) -> None:
    turn = TurnEvents.model_validate({**WHOSE, "messages": [{"role": role, "content": content}]})
    assert [block.type for block in turn.messages[0].content if isinstance(block, ContentBlock)] == [
        block["type"] for block in content
    ]
    assert TurnEvents.model_validate_json(turn.model_dump_json()) == turn
    asked = ComposeRequest.model_validate({**WHOSE, "user_message": {"content": content}})
    assert ComposeRequest.model_validate_json(asked.model_dump_json()) == asked


def _at(prefix: str, place: str) -> str:
    return f"{prefix}.{place}" if place else prefix


@pytest.mark.parametrize(("content", "place"), INVALID)
def test_an_error_names_the_block_and_its_field(content: Any, place: str) -> None:
    body = {**WHOSE, "messages": [{"role": "user", "content": "好"}, {"role": "user", "content": content}]}
    with pytest.raises(ValidationError) as caught:
        TurnEvents.model_validate(body)
    assert {each.field for each in problems(caught.value)} == {_at("messages.1.content", place)}
    with pytest.raises(ValidationError) as caught:
        ComposeRequest.model_validate({**WHOSE, "user_message": {"content": content}})
    assert {each.field for each in problems(caught.value)} == {_at("user_message.content", place)}


@pytest.mark.parametrize("block", [{"type": "text"}, {"type": "image", "text_fallback": "x"}, {"type": "video"}])
def test_a_block_without_text_or_media_does_not_match_the_json_schema(block: dict[str, Any]) -> None:
    fits = Draft202012Validator(schema_of("TurnEvents")).is_valid
    assert fits({**WHOSE, "messages": [{"role": "user", "content": [TEXT, IMAGE]}]})
    assert not fits({**WHOSE, "messages": [{"role": "user", "content": [TEXT, block]}]})


@pytest.mark.parametrize(
    ("given", "told", "state"),
    [
        (None, None, None),
        (None, "safe", "safe"),
        (None, "quarantined", "quarantined"),
        ("safe", None, "safe"),
        ("safe", "pending", "pending"),
        ("expired", "safe", "expired"),
    ],
)
def test_the_state_can_be_in_metadata_and_the_stricter_one_counts(
    given: str | None, told: str | None, state: str | None
) -> None:
    block = {**IMAGE, "security_status": given, "metadata": {"security_status": told}}
    assert ContentBlock.model_validate(block).security_status == state


def test_the_fallback_of_a_text_is_the_text_and_the_older_spelling_is_read() -> None:
    assert ContentBlock.model_validate(TEXT).fallback == TEXT["text"]
    assert ContentBlock.model_validate({**IMAGE, "recognised_text": "字"}).recognized_text == "字"
    state = {**WHOSE, "type": "image", "security_status": "safe", "recognised_text": "字"}
    assert MediaState.model_validate(state).recognized_text == "字"


def test_a_question_needs_text_or_media() -> None:
    assert IncomingMessage.model_validate([IMAGE]).words == ""
    with pytest.raises(ValidationError):
        IncomingMessage.model_validate([{"type": "text", "text": " "}])
    with pytest.raises(ValidationError):
        Message.model_validate({"role": "user", "content": "\u3000"})
    assert Message.model_validate({"role": "assistant", "content": ""}).content == ""


def test_parts_besides_a_text_are_validated_as_blocks() -> None:
    old = {"content": "Look.", "content_parts": [{"type": "text", "text": "Look."}, IMAGE]}
    placed = IncomingMessage.model_validate(old).placed
    assert [place for place, _ in placed] == ["content", "content_parts.1"]
    with pytest.raises(ValidationError) as caught:
        ComposeRequest.model_validate(
            {**WHOSE, "user_message": {"content": "Look.", "content_parts": [{"type": "image"}]}}
        )
    assert {each.field.rpartition(".")[0] for each in problems(caught.value)} == {"user_message.content_parts.0"}
