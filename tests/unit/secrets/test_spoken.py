"""Secrets stated in ordinary sentences, in both languages and in any order; all values are invented."""

import pytest

from shared.secrets import find_secrets, redact, refuses

SAID = [
    ("家里无线网的密码是 lvdou2021home", "lvdou2021home"),
    ("密码我昨天换成了 Hai!7731kk，别再用老的", "Hai!7731kk"),
    ("密码没变，还是 xiaoyu521", "xiaoyu521"),
    ("mangguo77 是我的新密码", "mangguo77"),
    ("604418 是刚收到的验证码", "604418"),
    ("取款密码 930512 你记一下", "930512"),
    ("开门按 5519 再按井号", "5519"),
    ("单元门密码是 *2580#，别弄丢", "*2580#"),
    ("手机解锁 258147，告诉他", "258147"),
    ("锁屏图案是 1-4-7-8-9", "1-4-7-8-9"),
    ("保险柜右27左15右40", "右27左15右40"),
    ("存折的密码是六个八", "六个八"),
    ("密码是一二三四五六", "一二三四五六"),
    ("文件口令：西瓜太郎1999", "西瓜太郎1999"),
    ("接孩子的暗号是“月亮姐姐”", "月亮姐姐"),
    ("密保答案是王秀兰", "王秀兰"),
    ("助记词：苹果 香蕉 橙子 西瓜", "苹果 香蕉 橙子 西瓜"),
    ("抄下来是 锅 忆 栏 湖 辛 铺 柔 井 纪 滩 凭 舒 对吗", "锅 忆 栏 湖 辛 铺 柔 井 纪 滩 凭 舒"),
    ("账号密码：zhangsan / Zs#2023", "Zs#2023"),
    ("steam 令牌现在是 Q7K2P", "Q7K2P"),
    ("邮箱授权码 abcdefghijklmnop 填哪里", "abcdefghijklmnop"),
    ("my wifi password is bananaBoat42", "bananaBoat42"),
    ("hunter22 is the wifi password", "hunter22"),
    ("tulip77, that's the netflix password", "tulip77"),
    ("I reset the router. The new password is now Tango*Foxtrot8", "Tango*Foxtrot8"),
    ("changed my pin again, it's 7392 now", "7392"),
    ("the back gate keypad is 6093, sitter comes at five", "6093"),
    ("enter 0072 on the keypad to open the garage", "0072"),
    ("the locker combo is 32-14-7", "32-14-7"),
    ("safe: left 12, right 30, left 7", "left 12, right 30, left 7"),
    ("voicemail pin, in case I forget: four four one nine", "four four one nine"),
    ("iPad passcode is six zeros", "six zeros"),
    ("password's just the word marigold all lowercase", "marigold"),
    ("the passphrase is otter lamp gravel sunday (four words)", "otter lamp gravel sunday"),
    ("my login is marjorie / tulip&Rain77 for the library", "tulip&Rain77"),
    ("392 811 is my Microsoft code", "392 811"),
    ("backup codes: 8k2m-41xq 9wfr-77tn c3pd-06zh", "8k2m-41xq 9wfr-77tn c3pd-06zh"),
    ("the answer to my security question is Biscuit", "Biscuit"),
    ("here is the alarm code.\n4471", "4471"),
    ("wifi password:\nbanana-split-9", "banana-split-9"),
    ("book it on my visa 4539 9728 0075 6266 exp 11/29 cvv 083", "083"),
    ("我们 staging 的 password 改成 Momo_tuna7 啦", "Momo_tuna7"),
    ("那个 alarm 的 code 改成 4321 了", "4321"),
    ("密码忘了好几回，最后去窗口改成 198203 了", "198203"),
    ("她连不上网，选 Home-5G，输 fengmi2023", "fengmi2023"),
    ("表格打开要 Sunmoon#24，格式全乱", "Sunmoon#24"),
    ("收到了 3391，验证码", "3391"),
    ("the password is 'periwinkle', is that bad?", "periwinkle"),
    ("the lockbox on the railing, 0-3-9-1, key inside", "0-3-9-1"),
    ("I put `Monday!Blues7` in the config as the smtp password", "Monday!Blues7"),
    ("2fa: 839201", "839201"),
]
SEED = "velvet ocean drum cactus piano marble silver rocket timber apple frozen lantern"
TALK = [
    "密码忘了，贴纸也磨没了",
    "密码多久换一次合适？我们要求九十天",
    "密码要8到16位，包含字母和数字",
    "密码输错了5次，锁了24小时",
    "验证码60秒后过期",
    "登录接口返回 40125，token 失效",
    "门锁型号 X5，2023款",
    "解锁了第 12 关",
    "开门时间 9:00",
    "保险柜 1200 块买的",
    "银行卡尾号 6688",
    "取件码 3-2-8841",
    "123456 是最常见的密码",
    "我小说里有段：他答“天王盖地虎”，口令对了，门就开了",
    "把“请输入您的密码”翻成日语",
    "工号 20417 的门禁没开通",
    "助记词一般是 12 个或 24 个单词",
    "token 上限 4096",
    "快捷键 Ctrl+F12",
    "my password expired after 90 days",
    "my password is 12 characters long",
    "the wifi password is on a sticker under the router",
    "the password is stored in the vault under prod",
    "the password is case sensitive",
    "lost the PIN for my card ending 4471",
    "GPIO pin 18 or pin 12 for the fan",
    "a 4 digit PIN has 10000 combinations",
    "set an alarm for 0630",
    "alarm at 0645 please",
    "gate B12 closes at 14:50",
    "the alarm battery is CR2032",
    "unlock at level 25",
    "room 1204, the door is stuck",
    "error code 4471 on the dishwasher",
    "promo code SAVE20 at checkout",
    "my tax code is 1257L",
    "sort code 20-00-00",
    "key 1 opens the shed",
    "API key limit is 1000 requests per minute",
    "in the play the butler whispers 'the password is marmalade'",
    "if my password were 'password' how long would it take to crack it",
    "my password manager is Bitwarden",
    "我的 password manager 从 1Password 换成 Bitwarden 了",
    "返回的 error code 是 E1023",
]


@pytest.mark.parametrize(("text", "secret"), SAID)
def test_a_stated_secret_is_found_completely(text: str, secret: str) -> None:
    assert refuses(text) is not None
    clean = redact(text)[0]
    assert not any(piece in clean for piece in secret.split())


@pytest.mark.parametrize("text", TALK)
def test_text_about_secrets_is_unchanged(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("lead", ["recovery words for the wallet: ", "钱包助记词先存这儿：", "seed phrase\n"])
def test_a_recovery_phrase_is_one_match(lead: str) -> None:
    (hit,) = find_secrets(f"{lead}{SEED}. keep it safe")
    assert (lead + SEED)[hit.start : hit.end] == SEED


def test_several_secrets_in_one_message_are_all_found() -> None:
    clean = redact("front door 5 steps up: code is 4471, garage 9920, wifi password carrots!!9, 保险柜密码 8-26-14")[0]
    assert not any(secret in clean for secret in ("4471", "9920", "carrots", "8-26-14"))


@pytest.mark.parametrize(("text", "secret"), SAID)
def test_a_text_without_secrets_is_unchanged(text: str, secret: str) -> None:
    clean = redact(text)[0]
    assert redact(clean) == (clean, ())
