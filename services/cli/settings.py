"""`smartbrain settings`: shows, changes and resets settings of a user or a tenant."""

from typing import Annotated, Any

import orjson
import typer
from rich.table import Table

from schemas.settings import SettingsChange
from services.cli.names import By, Tenant, Why, check_id, name_operator
from services.cli.output import AsJson, emit, out
from services.cli.texts import Lang
from services.cli.web import reach_compose

Json = dict[str, Any]
app = typer.Typer(no_args_is_help=True, help="Show and change the settings of a user or a tenant.")
User = Annotated[
    str | None, typer.Option("--user", "-u", help="User; without it, the settings of the tenant.", callback=check_id)
]
Named = Annotated[list[str], typer.Argument(help="Names of settings; `all` for all of them.")]
LanguageOption = Annotated[Lang, typer.Option("--lang", help="Language of the table: zh, en.")]
HEADS: dict[Lang, tuple[str, ...]] = {
    "en": ("setting", "value", "from", "may be", "means"),
    "zh": ("设置", "取值", "来源", "可选", "含义"),
}
SOURCES: dict[Lang, dict[str, str]] = {
    "en": {"user": "user", "tenant": "tenant", "policy": "default", "fixed": "fixed", "words": "user, in words"},
    "zh": {"user": "用户", "tenant": "租户", "policy": "默认", "fixed": "不可改", "words": "用户亲口说"},
}
MEANINGS: dict[Lang, dict[str, str]] = {
    "en": {name: field.description or "" for name, field in SettingsChange.model_fields.items()}
    | {"users_may": "What users may change"},
    "zh": {
        "summary_enabled": "会话是否有摘要",
        "inject_limit": "一次最多带多少条关于用户的记忆",
        "llm_rerank": "是否由大模型重新排序（若有）",
        "auto_remember": "false：只保存明确要求记住的内容",
        "auto_mode": "谁来阅读对话：只用规则，或再加大模型",
        "language": "标题与提示的语言；auto：随对话",
        "learning": "false：不从对话中学习，仅留日志",
        "retention_days": "超过这么多天的内容会被抹除",
        "personal_phone": "电话号码",
        "personal_email": "电子邮箱",
        "personal_id_number": "证件号码",
        "personal_bank_card": "银行卡号与账号",
        "personal_address": "门牌地址",
        "users_may": "用户可以自己更改的设置",
    },
}


@app.command("show")
def show(user: User = None, tenant: Tenant = "default", lang: LanguageOption = "en", as_json: AsJson = False) -> None:
    """Show every setting: its value, who chose it, and the allowed values."""
    with reach_compose() as web:
        view = web.get("/v1/settings", _name_owner(user, tenant))
    emit(view) if as_json else _print(view, lang)


@app.command("set")
def change(
    changes: Annotated[list[str], typer.Argument(help="Changes, as `name=value`.")],
    user: User = None,
    tenant: Tenant = "default",
    lang: LanguageOption = "en",
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Change settings; separate the items of a list by commas."""
    _send(dict(_read(each) for each in changes), _name_owner(user, tenant) | name_operator(by, reason), lang, as_json)


@app.command("reset")
def reset(
    names: Named,
    user: User = None,
    tenant: Tenant = "default",
    lang: LanguageOption = "en",
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Reset settings to their defaults."""
    every = [name for name in SettingsChange.model_fields if user is None or name != "users_may"]
    dropped = dict.fromkeys(every if names == ["all"] else names)
    _send(dropped, _name_owner(user, tenant) | name_operator(by, reason), lang, as_json)


def _read(change_text: str) -> tuple[str, Any]:
    name, equals, text = change_text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{change_text}: write name=value")
    if name == "users_may":
        return name, [each for each in text.split(",") if each]
    try:
        return name, orjson.loads(text)
    except orjson.JSONDecodeError:
        return name, text


def _send(body: Json, query: Json, lang: Lang, as_json: bool) -> None:
    with reach_compose() as web:
        view = web.patch("/v1/settings", body, query)
    emit(view) if as_json else _print(view, lang)


def _name_owner(user: str | None, tenant: str) -> Json:
    return {"tenant_id": tenant, "user_id": user}


def _print(view: Json, lang: Lang) -> None:
    table = Table(*HEADS[lang])
    for each in view["settings"]:
        source = SOURCES[lang]["words" if each["said_in"] else each["source"]]
        source += f" ({each['since'][:10]})" if each["since"] else ""
        if not each["changeable"]:
            source += f", {SOURCES[lang]['fixed']}"
        told = MEANINGS[lang][each["name"]]
        table.add_row(each["name"], _to_text(each["value"]), source, _may_be(each["allowed"]), told)
    out.print(table)


def _to_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType] # names of settings
    return "-" if value is None else str(value).lower()


def _may_be(allowed: Json) -> str:
    if allowed["values"]:
        return ", ".join(map(_to_text, allowed["values"]))
    return f"{allowed['least']} - {allowed['most']}"
