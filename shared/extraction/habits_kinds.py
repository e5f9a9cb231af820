"""What sort of thing a habit is, in the words in which it is asked for: who asks about exercise does not say `run`."""

# ruff: noqa: E501 - one kind a line

from functools import cache

from shared.extraction.habits import find_act
from shared.language.segment import stem, terms

_KINDS = {
    ("exercise workout sport fitness", "锻炼 运动 健身"): (
        "run jog gym workout swim yoga pilates bike cycle cycling spin hike climb bouldering row ski skate surf boxing crossfit treadmill lift"
        " weights stretch marathon tennis badminton basketball football soccer golf squash dance zumba lap trail"
        " 跑步 跑 晨跑 夜跑 慢跑 健身 健身房 游泳 游 瑜伽 普拉提 骑车 骑行 爬山 登山 徒步 跳绳 跳操 打球 篮球 足球 羽毛球 乒乓球 网球 撸铁 举铁 拉伸 太极 广场舞 散步 快走"
    ),
    ("drink beverage", "喝 饮料"): (
        "coffee latte espresso cappuccino americano white mocha tea matcha juice smoothie beer wine milk"
        " 咖啡 茶 奶茶 喝茶 喝咖啡 果汁 啤酒 红酒 牛奶 豆浆 拿铁 美式"
    ),
    ("eat meal food", "吃 饭"): "breakfast lunch dinner supper brunch snack 早饭 早餐 午饭 午餐 晚饭 晚餐 夜宵 吃饭",
    ("pet", "宠物"): "dog cat puppy kitten litter hamster 狗 遛狗 猫 喂猫 铲屎",
    (
        "family child children",
        "家人 孩子",
    ): "kid child son daughter school nursery daycare baby 娃 接娃 送娃 孩子 放学 上学 儿子 女儿 宝宝",
    ("housework chores home", "家务"): (
        "laundry dish vacuum mop clean iron tidy cook garden lawn plant trash 洗碗 洗衣服 扫地 拖地 做饭 打扫 收拾 浇花 倒垃圾 买菜"
    ),
    ("hobby practice leisure", "爱好 兴趣"): (
        "piano guitar violin cello drum sing paint draw knit sew chess read novel game movie film series podcast journal"
        " 钢琴 吉他 练琴 弹琴 画画 书法 看书 读书 电影 看电影 追剧 游戏 写日记 唱歌 下棋"
    ),
    ("work commute office", "工作 上班 通勤"): "work office commute shift standup 上班 下班 通勤 加班 打卡 开会",
    (
        "rest sleep health",
        "休息 健康",
    ): "nap sleep meditate meditation massage physio therapy medicine pill vitamin 午睡 睡觉 冥想 按摩 吃药 泡脚",
}


@cache
def _by_term() -> dict[str, tuple[str, str]]:
    """The kind that each term is of, worked out by whoever first asks."""
    return {stem(word): kind for kind, words in _KINDS.items() for word in words.split()}


def kinds_of(text: str) -> str:
    """The words by which such habits are asked for, in both languages; empty where its words tell no kind."""
    act = find_act(text)
    said = [*terms(text), *(act.terms if act else ())]
    found = dict.fromkeys(kind for term in said if (kind := _by_term().get(term)))
    return " ".join(f"{english} {chinese}" for english, chinese in found)
