"""What the pages that explain packages say."""

WORDS: dict[str, tuple[str, str]] = {
    "explain.title": ("Why it answered that way", "它为什么这样回答"),
    "explain.lead": (
        "Each time the agent was about to answer, it was given a package. These are the newest.",
        "智能体每次回答之前都会收到一个上下文包。以下是最新的。",
    ),
    "explain.empty": ("No package yet", "还没有上下文包"),
    "explain.empty.do": (
        "A package is made when an agent asks for context before it answers: POST /v1/context.",
        "智能体在回答前请求上下文（POST /v1/context）时就会生成一个。",
    ),
    "explain.when": ("When", "时间"),
    "explain.session": ("Conversation", "会话"),
}
