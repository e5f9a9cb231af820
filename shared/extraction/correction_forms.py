"""Finds corrections by their form: what the user denies, and what is true instead.

A form names the old words, the new words, or both. What either says is read by the plain finders from the affirmed
sentence: `I no longer live in Turin` takes back what `I live in Turin` states.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from schemas.memory_types import types_with
from shared.extraction import correction_words as words
from shared.extraction import dates, scheduled
from shared.extraction.clauses import Clause, language_of
from shared.extraction.gates import mask
from shared.extraction.guards import Stance, stances
from shared.extraction.keys import preference_key, tidy, to_target
from shared.extraction.model import Finding
from shared.extraction.slots import DENIES, find_denied_allergy, find_plain
from shared.extraction.values import sort_of
from shared.language.patterns import read_group, to_pattern

CORRECTABLE = types_with("correctable")
_LASTS = 2
"""A statement within so many clauses after a denial corrects it."""
_NEVER = -9
_LISTS = to_pattern(r"\b(?:or|and|nor)\b", re.I)


@dataclass(frozen=True, slots=True)
class DeniedFinding:
    """What a clause denies, as the finding of the affirmed sentence; `at` is its clause."""

    at: int
    words: str
    stated: Finding

    def fits(self, new: Finding) -> bool:
        """Whether the new finding may replace this one."""
        same = new.kind == self.stated.kind
        return same and (new.kind != "profile" or new.key == self.stated.key)


def may_promote(found: Finding) -> bool:
    """Whether the finding can correct one of its type."""
    return found.kind in CORRECTABLE


def promote_finding(statement: Finding, pattern: str, old: str | None = None, old_key: str | None = None) -> Finding:
    """The finding as a correction of the old value."""
    value = {**statement.value, **({"old_key": old_key} if old_key else {}), **({"old": old} if old else {})}
    old = old or statement.old_value
    return replace(
        statement, assertion="correction", detector="correction", pattern=pattern, old_value=old or None, value=value
    )


def find_corrections(
    clauses: Sequence[Clause], stances: Sequence[Stance], plain: Sequence[list[Finding]], today: date
) -> dict[int, list[Finding]]:
    """The corrections by their clause; they replace the plain findings of that clause."""
    return _CorrectionReader(clauses, stances, plain, today).read()


@dataclass(slots=True)
class _CorrectionReader:
    """Reads the clauses in their order, and remembers what was denied shortly before.

    `old` is what is so no more, `mended` the clause that says that something was wrong, `opened` one that is a mere no.
    """

    clauses: Sequence[Clause]
    stances: Sequence[Stance]
    plain: Sequence[list[Finding]]
    today: date
    old: DeniedFinding | None = None
    mended: int = _NEVER
    opened: int = _NEVER

    def read(self) -> dict[int, list[Finding]]:
        """The corrections by their clause; a joined one includes the next clause."""
        statements: dict[int, list[Finding]] = {}
        joined = -1
        for index, stance in enumerate(self.stances):
            reported = stance.reported and stance.subject != "self"
            if index == joined or stance.asked or stance.supposed or stance.ironic or reported:
                continue
            if each := self._read_clause(index):
                statements[index] = each
                joined = index + 1 if "joined" in each[0].flags else joined
        return statements

    def _read_clause(self, index: int) -> list[Finding]:
        clause, following = self.clauses[index], self.find_following(index)
        signs = clause.mask | (following.mask if following else 0)
        waiting = self.old or index - self.mended <= _LASTS or index - self.opened == 1
        if not waiting and not signs & (words.FORMS | scheduled.MOVES | DENIES):
            return []
        subject = self.stances[index].subject
        if subject in ("self", "none") and (denied := find_denied_allergy(clause.text)):
            return [denied]
        if words.ALONE.fullmatch(clause.text):
            self.opened = index
            return []
        shifted, joined = scheduled.find_moved(self.clauses, index, self.today)
        if shifted or subject == "agent":
            return [_mark_joined(one) if joined else one for one in shifted]
        if words.TAKES_BACK.search(clause.text):
            self.mended = index
        if before := words.BEFORE.search(clause.text):
            self._remember(index, before)
            return []
        text = words.LEAD.sub("", clause.text) or clause.text
        return (
            self._find_traded(index, text)
            or self._find_denial(index, text)
            or self._find_contrast(index, text)
            or self._find_switch(index, text)
            or self._find_restated(index, text)
        )

    def find_following(self, index: int) -> Clause | None:
        after = self.clauses[index + 1] if index + 1 < len(self.clauses) else None
        return after if after and after.sentence == self.clauses[index].sentence else None

    def _promotable(self, index: int) -> list[Finding]:
        return [one for one in self.plain[index] if may_promote(one)]

    def _affirm(self, *texts: str) -> Finding | None:
        """The finding in the first text that has any; None if it has several tastes."""
        for text in texts:
            clause = Clause(text, 0, len(text), 0, False, True, language_of(text), mask(text))
            found = find_plain(clause, stances((clause,))[0], self.today) or _find_use(text)
            if found and (len(found) == 1 or found[0].kind != "preference"):
                return found[0]
        return None

    def _remember(self, index: int, before: re.Match[str]) -> None:
        """Remembers what was true before: `I used to love coffee`."""
        gone = _read_part(before, "old")
        stated = self._affirm(f"我{gone}") if before["old2"] else self._affirm(f"I {gone}", f"I'm {gone}")
        self.old = DeniedFinding(index, _get_value(stated) or gone, stated) if stated else None

    def _find_contrast(self, index: int, text: str) -> list[Finding]:
        """`X, not Y`, `not Y but X`, in one clause or over two."""
        following = self.find_following(index)
        after = words.NOT.match(following.text) if following else None
        old = _read_part(after, "old") if after and not _read_part(after, "topic") else ""
        if names_something(old) and (own := self._promotable(index)):
            return [_mark_joined(_to_contrast(one, old)) for one in own]
        before = words.NOT.match(text)
        if following and before and names_something(old := _read_part(before, "old")):
            topic, new = read_group(before, "topic"), words.IS.match(following.text)
            stem = topic + read_group(before, "link")
            own = self._promotable(index + 1)
            own = own or (_find_use(following.text) if before["old3"] else [])
            if own and (not topic or (stem != topic and following.text.startswith(stem))):
                return [_mark_joined(_to_contrast(one, old)) for one in own]
            if new and (one := self._affirm_new(index, topic, stem, _read_part(new, "new"))):
                return [_mark_joined(_to_contrast(one, old))]
        both = words.BOTH.match(text)
        if both and names_something(old := _read_part(both, "old")):
            own = both["head"] and words.NOW.search(both["head"])
            texts = [said for said in (both["head2"], both["head"] if own else None) if said]
            one = self._affirm(*texts)
            if both["topic"]:
                one = self._affirm_new(index, both["topic"], both["topic"] + both["link"], both["new"])
            return [_to_contrast(one, old)] if one else []
        return []

    def _affirm_new(self, index: int, topic: str, stem: str, new: str) -> Finding | None:
        """The finding in the new words; a day without a thing belongs to the appointment named before."""
        thing = "" if topic.strip() else scheduled.find_thing("", self.clauses, index) or ""
        if language_of(f"{topic}{thing}{new}") == "zh":
            return self._affirm(f"{thing}是{new}" if thing else f"{stem}{new}")
        return self._affirm(f"{stem} {new}", f"the {thing or topic} is on {new}")

    def _find_switch(self, index: int, text: str) -> list[Finding]:
        """`switched from X to Y`, 从X换成Y."""
        match, stance = words.SWITCHED.match(text), self.stances[index]
        if not match or words.UNSURE.search(text) or stance.trial or stance.momentary:
            return []
        old, new, head = (_read_part(match, name) for name in ("old", "new", "head"))
        moved = _read_part(match, "moved")
        own = self._promotable(index)
        if own and (old or not moved):
            return [_to_contrast(one, old) for one in own]
        head = (match["thing"] or "").strip() or words.ADVERBS.sub("", head)
        said = dates.find_date(new, self.today)
        if sort_of(new) in words.OF_TIME or (said and said.start == 0):
            return self._find_moved(index, head, old, new)
        zh = bool(match["new3"])
        if not (stance.subject in ("self", "group") or old or (zh and text.endswith("了"))):
            return []
        texts = (f"{head}是{new}",) if zh else (f"{head} is {new}",)
        if zh and stance.subject != "other":
            texts = (*texts, f"我{match['verb'] or ''}{new}", f"我用{new}")
        one = self._affirm(*texts)
        if one is None and stance.subject != "other" and not moved and names_something(new):
            one = build_taste(new)
        return [_to_contrast(one, old)] if one else []

    def _find_traded(self, index: int, text: str) -> list[Finding]:
        """`ditched X for Y`, which also says that Y replaces X."""
        match = words.SWITCHED.match(text)
        return self._find_switch(index, text) if match and match["old2"] else []

    def _find_moved(self, index: int, thing: str, old: str, new: str) -> list[Finding]:
        """The new day of the thing, or of the appointment named before."""
        if sort_of(thing) in words.OF_TIME:
            thing, old = "", old or thing
        thing = thing if names_something(thing) else scheduled.find_thing("", self.clauses, index) or ""
        said = dates.find_date(new, self.today)
        return [scheduled.make_appointment(thing, new, said, language_of(thing), old, correction=True)] if thing else []

    def _find_denial(self, index: int, text: str) -> list[Finding]:
        """The retraction of what the affirmed sentence would state."""
        stance = self.stances[index]
        if stance.trial or stance.momentary or stance.subject == "other":
            return []
        match = next((match for pattern in words.GONE if (match := pattern.search(text))), None)
        gone, rest = _split_at_comma(_read_part(match, "old")) if match else ("", "")
        if gone in ("喜欢", "爱"):
            return [_to_denial(Finding("preference", None, {}, text, "", "", "preference"), "", text)]
        if not names_something(gone):
            return []
        if language_of(gone) == "zh" or text.startswith("我"):
            at_work = words.AT_WORK.sub("工作", gone)
            texts = (f"我{at_work}", f"我住{gone}") if gone.startswith("在") else (f"我{gone}",)
        else:
            texts = (f"I {gone}", f"I'm {gone}")
        stated = self._affirm(*texts) or build_taste(gone)
        self.old = DeniedFinding(index, _get_value(stated) or gone, stated)
        denial = _to_denial(stated, self.old.words, text)
        return [put_instead(denial, rest)] if rest else [denial]

    def _find_restated(self, index: int, text: str) -> list[Finding]:
        """The plain findings of the clause, if words in it or before it say that it corrects something."""
        clause, stance, old = self.clauses[index], self.stances[index], self.old
        own = self._promotable(index)
        mends, follows = index - self.mended <= _LASTS, old is not None and self._follows(index, old.at)
        if not own and index != self.mended and (mends or follows) and stance.subject in ("self", "none"):
            own = _find_use(text)
        if old and follows and (fitting := [one for one in own if old.fits(one)]):
            self.old = None
            return [promote_finding(one, "restated", old.words, old.stated.key) for one in fitting]
        if mends:
            self.mended = self.mended if not own else _NEVER
            return [promote_finding(one, "slip") for one in own]
        if stance.subject != "other" and words.NOW.search(clause.text):
            return [promote_finding(one, "now") for one in own if one.kind in ("preference", "profile")]
        if index - self.opened == 1 or words.SETS_RIGHT.match(clause.text):
            return [promote_finding(one, "actually") for one in own if one.kind == "profile" or one.polarity < 0]
        return []

    def _follows(self, index: int, before: int) -> bool:
        """Whether the clause follows the other shortly after, in its sentence or with a word that refers to it."""
        clause = self.clauses[index]
        near = clause.sentence == self.clauses[before].sentence or words.BACK.search(clause.text) is not None
        return near and 0 < index - before <= _LASTS


def names_something(said: str) -> bool:
    """Whether the old words name something that may have been kept."""
    return 0 < len(said) <= 40 and not words.NOTHING.match(said)


def build_taste(what: str, before: str = "") -> Finding:
    """A taste for the thing, under the key of its words and the words before it."""
    key, scope, slot = preference_key(before + what)
    value: dict[str, object] = {"scope": scope, "target": to_target(what), "value": what}
    value |= {"slot": slot} if slot else {}
    return Finding("preference", key, value, f"{before} {what}", "correction", "uses", "preference", 1)


def _find_use(text: str) -> list[Finding]:
    match = words.USES.match(text)
    what = tidy(_read_part(match, "what")) if match else ""
    return [build_taste(what, match["verb"] or "")] if match and names_something(what) else []


def _to_contrast(found: Finding, old: str) -> Finding:
    key = preference_key(old)[0] if old and found.kind == "preference" else None
    return promote_finding(found, "contrast", old, key)


def _to_denial(stated: Finding, old: str, text: str) -> Finding:
    value = {**stated.value, "value": "" if stated.kind == "profile" else old, "old": old}
    found = replace(stated, value=value, text=text, retracts=True, polarity=-1)
    return promote_finding(found, "gone", old)


def put_instead(denial: Finding, new: str = "", key: str | None = None) -> Finding:
    """The denial as a correction that says what is true instead."""
    value = {**denial.value, "value": new, **({"old_key": denial.key} if denial.key else {})}
    return replace(denial, key=key, value=value, retracts=False, polarity=0, pattern="instead")


def _split_at_comma(gone: str) -> tuple[str, str]:
    """The denied words, and the words about today after a comma; a list of things is one denial."""
    before, _, after = gone.partition(", ")
    return (gone, "") if _LISTS.search(after) else (before.strip(), after.strip())


def _mark_joined(found: Finding) -> Finding:
    """The correction with a mark that it includes the next clause."""
    return replace(found, flags=(*found.flags, "joined"))


def _read_part(match: re.Match[str], name: str) -> str:
    """The words of the group with this name, or with this name and a number."""
    return tidy(read_group(match, name))


def _get_value(found: Finding | None) -> str:
    value = found.value.get("value") if found else None
    return value if isinstance(value, str) else ""
