"""The texts of the commands in both languages, from `texts.toml`."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import typer

from shared.language.normalise import detect

Lang = Literal["zh", "en"]
LanguageOption = Annotated[Lang | None, typer.Option("--lang", help="Language of the labels: zh, en.")]


def choose_texts(command: str, lang: Lang | None, spoken: str) -> dict[str, str]:
    """The command's texts in the language that was asked for, else in that of the spoken words."""
    language = lang or detect(spoken)
    return {
        name: chinese if language == "zh" else english for name, (english, chinese) in _load_tables()[command].items()
    }


@cache
def _load_tables() -> dict[str, dict[str, tuple[str, str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
