"""`compose --explain`: the plan, the candidates with their scores, dropped candidates and the arms; in zh and en."""

from typing import Any

from rich.table import Table
from rich.text import Text

from services.cli.output import out
from services.cli.texts import Lang, choose_texts

Json = dict[str, Any]
SHOWN = 25


def show(package: Json, language: Lang | None = None) -> None:
    """The explanation for people, by default in the language of the question."""
    debug: Json = package.get("debug") or {}
    planner: Json = debug.get("planner") or {}
    explain: Json = debug.get("explain") or {}
    say = choose_texts("explain", language or ("zh" if planner.get("language") == "zh" else "en"), "")
    _plan(planner, say)
    _candidates(explain.get("candidates", []), say)
    print_dropped(explain, say)
    _arms(package, debug, explain, say)


def _head(title: str) -> None:
    out.print(Text(f"\n{title}", "bold magenta"))


def _fact(name: str, value: str) -> None:
    if value:
        out.print(Text(f"  {name}: ", "cyan").append(Text(value, "default")))


def _plan(planner: Json, say: dict[str, str]) -> None:
    plan: Json = planner.get("plan") or {}
    _head(say["plan"])
    _fact(say["intent"], f"{planner.get('intent', '?')} ({planner.get('confidence', 0.0):.2f})")
    _fact(say["purpose"], str(planner.get("purpose", "")))
    _fact(say["because"], ", ".join(planner.get("hints", [])) or str(planner.get("reason", "")))
    _fact(say["entities"], ", ".join(planner.get("entities", [])))
    _fact(say["knowledge"], say["yes"] if planner.get("resources_needed") else say["no"])
    _fact(say["filters"], filters(plan.get("global_filters") or {}) or say["none"])
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    for name in ("#", say["mode"], say["weight"], say["filters"], say["text"]):
        table.add_column(name, no_wrap=name != say["text"])
    for n, query in enumerate(plan.get("queries", [])):
        own = filters(query.get("filters") or {})
        row = (str(n), query.get("mode", ""), f"{query.get('weight', 1.0):.2f}", own, query["text"])
        table.add_row(*(Text(cell) for cell in row))
    _head(say["queries"])
    out.print(table)


def filters(given: Json) -> str:
    """The filters that are set, on one line."""
    parts: list[str] = []
    for name, value in given.items():
        if name == "time_range" and value:
            parts.append(f"{str(value.get('from') or '')[:10]}..{str(value.get('to') or '')[:10]}")
        elif value:
            parts.append(f"{name}={','.join(map(str, value))}")
    return "; ".join(parts)


def _candidates(candidates: list[Json], say: dict[str, str]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    for name in (say["place"], say["score"], say["factors"], say["arms"], say["out"], say["text"]):
        table.add_column(name, no_wrap=name not in (say["text"], say["arms"]), overflow="fold")
    for each in candidates[:SHOWN]:
        table.add_row(
            Text(f"E{each['place']}" if each.get("place") else "-", "green" if each.get("place") else "dim"),
            Text(f"{each['score']:.3f}"),
            Text(factors(each["factors"])),
            Text(arms(each["arms"]), "dim"),
            Text(" ".join(filter(None, (each.get("dropped"), each.get("rule")))), "yellow"),
            Text(each.get("text") or each["id"]),
        )
    _head(f"{say['candidates']} ({len(candidates)})")
    out.print(table)
    if len(candidates) > SHOWN:
        out.print(Text(f"  {len(candidates) - SHOWN} {say['more']}", "dim"))


def factors(given: Json) -> str:
    """The product that is the final score: relevance, recency, confidence, provenance, frequency."""
    return " x ".join(
        f"{given[name]:.2f}" for name in ("relevance", "recency", "confidence", "provenance", "frequency")
    )


def arms(given: list[Json]) -> str:
    """Rank and score in every arm; those in brackets are shown and do not count."""
    told = [f"{each['arm']} {each['rank']}:{each['score']:.2f}" for each in given if each["weight"] > 0]
    shown = [f"{each['arm']} {each['rank']}:{each['score']:.2f}" for each in given if each["weight"] <= 0]
    return " ".join([*told, *(f"[{each}]" for each in shown)])


def print_dropped(explain: Json, say: dict[str, str]) -> None:
    counted: dict[str, int] = {}
    for each in explain.get("dropped", []):
        reason = " ".join(filter(None, (each["reason"], each.get("rule"))))
        counted[reason] = counted.get(reason, 0) + 1
    if counted:
        _head(say["dropped"])
        _fact(str(sum(counted.values())), ", ".join(f"{reason} {n}" for reason, n in sorted(counted.items())))


def _arms(package: Json, debug: Json, explain: Json, say: dict[str, str]) -> None:
    _head(say["arm"])
    for arm in explain.get("arms", []):
        style = "default" if arm["status"] == "ok" else "yellow"
        out.print(
            Text(f"  {arm['arm']:<8} {arm['status']:<8} {arm['candidates']:>5}  {arm['took_ms']:>8.1f} ms", style)
        )
    _fact(say["took"], f"{explain.get('took_ms', 0.0):.1f} ms")
    _fact(say["missing"], ", ".join(package.get("degraded_reason", [])))
    _fact(say["notes"], ", ".join(explain.get("notes", [])))
    _fact(say["ignored"], "; ".join([*debug.get("ignored", []), *explain.get("ignored_fields", [])]))
