"""What the pages of the memory say."""

WORDS: dict[str, tuple[str, str]] = {
    "memory.overview": ("What is known about you", "关于您，目前知道这些"),
    "memory.lead": (
        "{count} things, learnt from what was said. Each says where it comes from.",
        "共 {count} 条，均来自您说过的话；每一条都能查到出处。",
    ),
    "memory.tab.overview": ("Overview", "总览"),
    "memory.empty": ("Nothing is known yet", "目前还一无所知"),
    "memory.empty.do": (
        "Talk with your agent, and what matters turns up here within seconds. Is {user} the name that the agent uses?",
        "与您的智能体聊一聊，重要的事几秒内就会出现在这里。智能体使用的名字是 {user} 吗？",
    ),
    "memory.since": ("since {day}", "自{day}"),
    "memory.more": ("{count} more", "还有 {count} 条"),
}
