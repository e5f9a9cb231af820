"""Logs contain the kind and place of an error and never user text."""

from shared.telemetry import frames


def test_the_message_of_an_error_is_not_logged() -> None:
    said = "my secret diary"
    try:
        int(said)
    except ValueError as error:
        fields = frames(error)
    assert fields["error"] == "ValueError"
    assert "test_telemetry.py" in fields["at"]
    assert said not in str(fields)
