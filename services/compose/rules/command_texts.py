"""The replies to commands, in both languages."""

from collections.abc import Sequence
from typing import Literal

from schemas.commands import CommandItem

Lang = Literal["zh", "en"]
SAY: dict[Lang, dict[str, str]] = {
    "en": {
        "memory": "What I know about you:",
        "facts": "Facts",
        "notes": "Notes",
        "more": "... and {n} more",
        "silenced": "never brought up",
        "how": "/forget fact 1 takes the first fact back, /forget note 1 the first note.",
        "nothing": "I know nothing about you yet. /remember ... keeps something.",
        "search": "For this message I would be given:",
        "search_nothing": "For this message I would be given nothing.",
        "summary": "Summary of this conversation:",
        "no_summary": "This conversation has no summary yet.",
        "cleared": "The summary of this conversation is cleared.",
        "forgotten": "Forgotten: {text}",
        "no_list": "Nothing was forgotten. Numbers are those of the list: /memory shows it.",
        "no_such_number": "Nothing was forgotten. The list that was shown has no {n}: /memory shows it again.",
        "no_such_memory": "Nothing was forgotten. I know nothing of that id.",
        "gone": "Nothing was forgotten. That is gone already: /memory shows what is left.",
        "changed": "Nothing was forgotten. The list has changed since it was shown; that one now says: {text}."
        " /memory shows the list as it is now.",
        "forget_unclear": "Nothing was forgotten. Say which: /forget fact 1, /forget note 1 or an id; see /memory.",
        "memory_unclear": "I know /memory and /memory search <words>.",
        "not_by_command": "Nothing was changed. Ask for an erasure to have everything erased.",
        "summary_unclear": "I know /summary and /summary clear.",
        "remember_unclear": "What should I remember? /remember and then the words.",
        "accepted": "I will remember: {text}",
        "merged": "I know that already: {text}",
        "rejected": "Not remembered ({why}).",
        "wish": "you asked me not to remember",
        "secret": "it looks like a password or another secret",
        "manipulation": "it tells me how to behave against the rules",
        "unknown": "There is no command /{word}. /help lists them. Your message was taken as an ordinary one.",
        "no_command": "This is no command. /help lists them.",
        "help": "/memory - what I know about you (/mem)\n"
        "/memory search <words> - what I would be given for a message\n"
        "/summary - the summary of this conversation (/sum)\n"
        "/summary clear - clear it\n"
        "/remember <words> - keep something\n"
        "/forget fact N, /forget note N - take back what /memory showed with that number, or an id (/del)\n"
        "/help - this list",
    },
    "zh": {
        "memory": "我记得的关于你的内容：",
        "facts": "事实",
        "notes": "笔记",
        "more": "……还有 {n} 条",
        "silenced": "不再提起",
        "how": "/forget fact 1 忘掉第 1 条事实，/forget note 1 忘掉第 1 条笔记。",
        "nothing": "我还没有记住关于你的任何内容。用 /remember 加内容来记住一条。",
        "search": "对这句话，会给我看到：",
        "search_nothing": "对这句话，没有会给我看到的记忆。",
        "summary": "本次对话的摘要：",
        "no_summary": "本次对话还没有摘要。",
        "cleared": "本次对话的摘要已清空。",
        "forgotten": "已忘掉：{text}",
        "no_list": "没有忘掉任何内容。编号以列表为准，请先用 /memory 查看。",
        "no_such_number": "没有忘掉任何内容。刚才的列表里没有第 {n} 条，请用 /memory 再看一次。",
        "no_such_memory": "没有忘掉任何内容。没有这个 id 的记忆。",
        "gone": "没有忘掉任何内容。这一条已经不在了，用 /memory 查看现有内容。",
        "changed": "没有忘掉任何内容。列表在显示之后有了变化，这一条现在是：{text}。请用 /memory 查看最新列表。",
        "forget_unclear": "没有忘掉任何内容。请说明是哪一条：/forget fact 1、/forget note 1 或 id。用 /memory 查看。",
        "memory_unclear": "可用的是 /memory 和 /memory search 加内容。",
        "not_by_command": "没有改动任何内容。要抹除全部记忆，请申请抹除。",
        "summary_unclear": "可用的是 /summary 和 /summary clear。",
        "remember_unclear": "要记住什么？请用 /remember 加上内容。",
        "accepted": "我会记住：{text}",
        "merged": "这个我已经知道了：{text}",
        "rejected": "没有记住（{why}）。",
        "wish": "你要求过不要记录",
        "secret": "看起来像密码或其他机密",
        "manipulation": "它要求我违反规则",
        "unknown": "没有 /{word} 这个命令，/help 查看全部命令。这条消息已按普通消息处理。",
        "no_command": "这不是命令，/help 查看全部命令。",
        "help": "/memory - 我记得的关于你的内容（/mem、/记忆）\n"
        "/memory search 内容 - 对这句话会给我看到哪些记忆\n"
        "/summary - 本次对话的摘要（/sum、/摘要）\n"
        "/summary clear - 清空摘要\n"
        "/remember 内容 - 记住一条（/记住，或“记住：内容”）\n"
        "/forget fact N、/forget note N - 忘掉 /memory 显示的第 N 条，也可用 id（/del、/忘记）\n"
        "/help - 本列表（/帮助）",
    },
}
_REFUSED = ("wish", "secret", "manipulation")


def get_text(key: str, language: Lang, **parts: object) -> str:
    return SAY[language][key].format(**parts) if parts else SAY[language][key]


def list_items(items: Sequence[CommandItem], more: int, language: Lang) -> str:
    """The memories with the numbers by which they can be forgotten."""
    if not items:
        return get_text("nothing", language)
    lines = [get_text("memory", language)]
    for kind in ("fact", "note"):
        own = [each for each in items if each.kind == kind]
        lines += [get_text(f"{kind}s", language)] if own else []
        lines += [f"{each.number}. {each.text}" for each in own]
    lines += [get_text("more", language, n=more)] if more else []
    return "\n".join((*lines, get_text("how", language)))


def list_texts(texts: Sequence[str], language: Lang) -> str:
    """The texts that a package would carry."""
    if not texts:
        return get_text("search_nothing", language)
    return "\n".join((get_text("search", language), *(f"- {text}" for text in texts)))


def explain_refusal(reason: str | None, language: Lang) -> str:
    """Why a dictated note is refused."""
    why = next((name for name in _REFUSED if name in (reason or "")), None)
    return get_text("rejected", language, why=SAY[language][why] if why else reason or "?")
