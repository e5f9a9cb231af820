"""Words that carry no topic in either language, question words included; for queries, never for documents."""

_ENGLISH = """
a about above after again against ago all almost along already also although always am among an and another any anybody
anyone anything are aren arent around as ask asked at away back be because been before being below between both but by
came can cannot cant come comes coming could couldn couldnt d did didn didnt do does doesn doesnt doing don done dont
down during each either else enough etc even ever every everyone everything few for from further get gets getting give
given go goes going gone got had hadn hadnt has hasn hasnt have haven havent having he hed hell help her here heres hers
herself hes hey hi hello him himself his how hows however i id if ill im in into is isn isnt it itd itll its itself ive
just know known last least let lets like ll lot made make makes many may maybe me might mine more most much must my
myself need needs neither never next no nor not now of off ok okay on once one only onto or other others our ours
ourselves out over own per perhaps please quite rather re really s said same say says see seem seems shall shan she shed
shell shes should shouldn shouldnt since so some somebody someone something still such sure t take tell than thank
thanks that thatll thats the their theirs them themselves then there theres these they theyd theyll theyre theyve thing
things think this those though through thus to too toward towards try u under until up upon us use used ve very via want
wants was wasn wasnt way we wed well went were weren werent weve what whatever whats when whens where wheres whether
which while who whoever whom whos whose why whys will with within without wont would wouldn wouldnt y yes yet you
youd youll your youre yours yourself yourselves youve kind type sort ones did whats
"""

_CHINESE = """
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 噢 嗯 哈 嘛 啦 哇 唉 哎 喔 喂 么 之 其 其中 而 而且 与 和 跟 同 及 以及 或
或者 还是 还 也 都 就 就是 才 又 再 很 太 更 最 挺 非常 特别 十分 比较 有点 有些 一些 一点 一下 一个 一种 一样
这 那 这个 那个 这些 那些 这里 那里 这儿 那儿 这样 那样 这么 那么 这次 那次 此 该 各 每 某 另 另外 其他 其它
别的 是 不是 是不是 有 有没有 没有 没 不 别 无 非 在 于 从 自 到 向 往 对 对于 关于 把 被 让 给 为 为了 因为
所以 因此 但 但是 可是 不过 然而 如果 要是 假如 虽然 即使 只要 只有 只是 只 除了 以 按 按照 根据 通过 当 当时
时 时候 的时候 之前 之后 以前 以后 然后 接着 后来 现在 已经 正在 曾经 曾 刚 刚才 刚刚 一直 总是 经常 常常 可以
可 能 能够 能不能 可不可以 会 会不会 要 要不要 想 想要 应该 应 该不该 必须 需要 愿意 得到 我 你 您 他 她 它
我们 你们 他们 她们 它们 咱 咱们 自己 大家 人家 别人 谁 谁的 我的 你的 您的 他的 她的 它的 什么 什么样 什么时候
什么地方 啥 怎么 怎么样 怎样 怎么办 如何 为什么 为何 为啥 干嘛 哪 哪个 哪些 哪里 哪儿 哪家 哪种 哪位 哪天 几
几个 多少 多久 多大 多长 是否 有什么 请 请问 麻烦 帮 帮我 帮忙 告诉 告诉我 说 说说 说过 讲 讲讲 问 问问 问题
知道 觉得 认为 看 看看 来 去 去过 做 弄 搞 用 叫 叫做 称 记得 还记得 提到 提过 上 下 里 中 内 外 前 后 间 边 面
来着 而已 罢了 等 等等 例如 比如 个 位 种 些 件 次 回 点 份 条
这是 那是 都是 也是 还有 我是 你是 好 好的 行 嗯嗯 谢谢 您好 你好 几点 几号 几月
哪年 哪月 哪次 哪一个 哪一 有谁 是谁 吗啊 呗 咋 咋样 能否 可否 究竟 到底 一共 总共 大概 大约
"""

ENGLISH: frozenset[str] = frozenset(_ENGLISH.split())
CHINESE: frozenset[str] = frozenset(_CHINESE.split())
ALL: frozenset[str] = ENGLISH | CHINESE
