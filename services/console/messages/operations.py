"""What the pages of operations say."""

WORDS: dict[str, tuple[str, str]] = {
    "operations.title": ("How the house stands", "系统现状"),
    "operations.well": ("Everything is well.", "一切正常。"),
    "operations.unwell": ("Something needs a look.", "有需要处理的问题。"),
    "operations.service": ("Service", "服务"),
    "operations.state": ("State", "状态"),
    "operations.fine": ("well", "正常"),
}
