"""Every console message exists in both languages and is used."""

import re
from collections import Counter
from pathlib import Path

import pytest

from services.console.messages import MESSAGES, TABLES
from services.console.rendering import FOLDER, make_templates
from services.console.rules.telling import DEGREES, LANGUAGES

VALUE = re.compile(r"\{(\w+)\}")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
NAMED = re.compile(r"""\b(?:t|tell|Notice)\(\s*["']([a-z_.]+)["']""")
MADE = re.compile(r"""["']([a-z_]+\.(?:[a-z_]+\.)*)["'] ~|f"([a-z_]+\.(?:[a-z_]+\.)*)\{|tell_one\("([a-z_]+)",""")
"""Names with a computed end: `"area." ~ area.name` and `f"error.{code}"`."""
SOURCES = {path: path.read_text("utf-8") for path in sorted(FOLDER.rglob("*")) if path.suffix in (".py", ".html")}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_has_the_same_placeholders_in_both_languages(name: str) -> None:
    told = MESSAGES[name]
    assert len(told) == len(LANGUAGES)
    english, chinese = told
    assert english.strip()
    assert not CHINESE.search(english)
    assert CHINESE.search(chinese) or not re.search(r"[a-z]{3}", chinese.replace("{", "").casefold()), chinese
    assert Counter(VALUE.findall(english)) == Counter(VALUE.findall(chinese))


def test_message_names_are_unique() -> None:
    assert sum(len(table) for table in TABLES) == len(MESSAGES)


def list_used() -> set[str]:
    return {name for text in SOURCES.values() for name in NAMED.findall(text)}


def test_every_used_message_exists() -> None:
    used = list_used()
    assert len(used) > 30
    assert not {name for name in used if not name.endswith(".")} - set(MESSAGES)
    assert {name for _, name in DEGREES} <= set(MESSAGES)


def test_every_message_is_used() -> None:
    beginnings = {each for text in SOURCES.values() for found in MADE.findall(text) for each in found if each}
    unused = {
        name
        for name in MESSAGES
        if not name.startswith(tuple(beginnings))
        and not any(re.search(rf"[\"']{name}[\"']", each) for each in SOURCES.values())
    }
    assert not unused


def test_every_template_compiles() -> None:
    templates = make_templates()
    names = templates.list_templates()
    assert "layout.html" in names
    for name in names:
        assert templates.get_template(name)


@pytest.mark.parametrize("path", [path for path in SOURCES if path.suffix == ".html"], ids=lambda path: path.name)
def test_no_template_disables_escaping_or_contains_a_script(path: Path) -> None:
    text = SOURCES[path]
    assert not re.search(r"\|\s*safe\b|autoescape|<style|\sstyle=|\son[a-z]+=|hx-on|hx-vals=.js|javascript:", text)
    assert not re.search(r"<script(?! src=\"/static/)", text)
    assert "http://" not in text
    assert "https://" not in text
    assert not CHINESE.search(text.replace("中文", "")), "what is said stands in the messages"
    forms = re.findall(r"<form[^>]*method=\"post\".*?</form>", text, re.DOTALL)
    assert all("form_token()" in form for form in forms)
