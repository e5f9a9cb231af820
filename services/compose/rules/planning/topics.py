"""What a vague request is about, as questions to memory: 'what should I wear' asks for taste, style, build, season (R069)."""

# ruff: noqa: E501 - one topic per line

import re

from schemas.vocabulary import Language
from shared.language.patterns import to_pattern

_TOPICS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (r"穿|衣|裤|裙|鞋|搭配|外套|毛衣|衬衫|包包|造型|\b(?:wear|outfit|dress|clothes|clothing|shoes|jacket|shirt|style)\b", ("用户穿衣偏好", "最近风格 最近喜欢的风格", "体型/场景/季节 偏好"), ("clothing preferences", "favourite style lately", "body size occasion season")),
    (r"吃|喝|菜|餐|饭|食|饮|火锅|咖啡|奶茶|外卖|做饭|\b(?:eat|food|dinner|lunch|breakfast|restaurant|cook|recipe|meal|drink|cafe|coffee|snack)\b", ("用户饮食偏好 口味", "过敏 忌口 不吃", "最近吃过 喜欢的餐厅"), ("food preferences taste", "allergy diet dislikes", "favourite restaurant recently ate")),
    (r"旅|游|去哪|玩|景点|酒店|机票|度假|周末|\b(?:travel|trip|visit|vacation|holiday|hotel|flight|weekend|destination|getaway)\b", ("用户旅行偏好", "去过的地方 计划去", "预算 同行的人 时间"), ("travel preferences", "places visited planned trip", "budget companions dates")),
    (r"电影|剧|综艺|动漫|看什么|片|\b(?:movie|film|show|series|watch|anime|netflix)\b", ("喜欢的电影 影视偏好", "最近看过的"), ("favourite movies shows", "recently watched")),
    (r"书|读|小说|\b(?:book|novel|read|author)\b", ("阅读偏好 喜欢的书", "最近读的书"), ("favourite books reading", "recently read")),
    (r"歌|音乐|乐队|听|\b(?:music|song|band|playlist|listen|concert)\b", ("音乐偏好 喜欢的歌手",), ("favourite music bands",)),
    (r"礼物|送(?:礼|给|什么)|生日|纪念日|\b(?:gift|present|birthday|anniversary)\b", ("家人 朋友 关系", "生日 纪念日 喜好", "预算"), ("family friends relationship", "birthday likes hobbies", "budget")),
    (r"运动|健身|跑步|减肥|锻炼|瑜伽|\b(?:exercise|workout|gym|running|fitness|yoga|sport)\b", ("运动习惯 健身目标", "身体状况 伤病"), ("exercise habits fitness goals", "health injuries")),
    (r"学习|课程|考试|语言|\b(?:study|learn|course|exam|language)\b", ("学习目标 进度", "学习方式偏好"), ("learning goals progress", "study preferences")),
    (r"买|手机|电脑|耳机|相机|数码|价格|预算|\b(?:buy|purchase|laptop|phone|camera|headphones|product|shop)\b", ("购买记录 用过的产品", "品牌偏好 预算"), ("past purchases products owned", "brand preferences budget")),
    (r"工作|项目|会议|代码|部署|任务|\b(?:work|project|meeting|code|deploy|task|repo)\b", ("当前项目 目标 任务", "技术栈 工具偏好"), ("current project goals tasks", "tech stack tool preferences")),
)  # fmt: skip
_COMPILED = [(to_pattern(pattern, re.IGNORECASE), zh, en) for pattern, zh, en in _TOPICS]


def aliases(message: str, language: Language, most: int = 4) -> list[str]:
    """Questions to memory for the topics that the message touches."""
    found: list[str] = []
    for pattern, zh, en in _COMPILED:
        if pattern.search(message):
            found += zh if language == "zh" else en
    return list(dict.fromkeys(found))[:most]
