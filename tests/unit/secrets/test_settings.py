"""Secrets in settings, code, commands and addresses, and by their form; all values are invented."""

import time

import pytest

from shared.secrets import find_secrets, kind_of_field, kind_of_id, redact, refuses

BODY = "Zx81kQ9vTm3LpW7RbN5sHc2YdF6gJ4aE"
TOKENS = [
    f"sk-proj-{BODY}",
    f"ghp_{BODY}abcd",
    f"glpat-{BODY[:20]}",
    f"dckr_pat_{BODY[:27]}",
    f"figd_{BODY}",
    f"hf_{BODY}",
    f"gsk_{BODY}",
    f"npm_{BODY}abcd",
    f"LTAI5t{BODY[:18]}",
    f"AKID{BODY}",
    f"AKLT{BODY}",
    f"CCIPAT_{BODY}",
    f"hvs.{BODY}",
    f"xoxb-394909008267-{BODY}",
    "7185453865:AA6N3IZmMPAb5yF-to01qT6buAOzLi6YyhM",
    "28b63d247ead063fe4eb8f9f4918abb4.amI3Q4CSbXA96Cnt",
    f"whsec_{BODY}",
    "JBUW 5QKD R3TZ M2XN 7HVA O4CE",
]
SETTINGS = [
    ("DB_PASS=lanHai*0617_rw", "lanHai*0617_rw"),
    ('"Pass": "gosling_Parade9"', "gosling_Parade9"),
    ("password: !Nuan9yang", "!Nuan9yang"),
    ("Server=tcp:x;User ID=svc;Password=Tr0ut&Quarry!19;Encrypt=True;", "Tr0ut&Quarry!19"),
    ("redis://:pangxie_7741@127.0.0.1:6379/3", "pangxie_7741"),
    ("app_secret WzvowUIrhmUE2OA0tE0cqAxQ9wHAjPvs", "WzvowUIrhmUE2OA0tE0cqAxQ9wHAjPvs"),
    ("appsecret用的ba0ba21b75954e8d113e92c0fdb72f97", "ba0ba21b75954e8d113e92c0fdb72f97"),
    ("cookie 里 SESSDATA=4cced44f%2C1781372364%2C9efc6*c1;", "4cced44f%2C1781372364%2C9efc6*c1"),
    ('headers={"Cookie": "sessionid=l8bmw95nsp4ssg0w2236s13gy39ltpwg"}', "l8bmw95nsp4ssg0w2236s13gy39ltpwg"),
    ('-H "X-Api-Key: 9762374d43b979331d57413c97e2bfbe"', "9762374d43b979331d57413c97e2bfbe"),
    ("docker login -u huang -p Mj0925docker registry.example.com", "Mj0925docker"),
    ("sshpass -p 'Xianggang.8rack' ssh deploy@host", "Xianggang.8rack"),
    ("curl -u elastic:Sommer_99x http://localhost:9200", "Sommer_99x"),
    ("CREATE USER 'x'@'%' IDENTIFIED BY 'Zx81!!aa';", "Zx81!!aa"),
    ("redis-cli -a foobared99 ping", "foobared99"),
    ('<add key="SmtpPassword" value="Sn0w-Fox" />', "Sn0w-Fox"),
    ('requests.post(url, auth=("mira", "Sn0w-Fox"))', "Sn0w-Fox"),
    ('echo "Sn0w-Fox" | sudo -S apt update', "Sn0w-Fox"),
    ("sqlplus scott/tiger77@orcl", "tiger77"),
    ("企业微信 corpsecret=Zx81kQ9vTm3LpW7RbN5sHc2YdF6gJ4aE", "Zx81kQ9vTm3LpW7RbN5s"),
    ("PrivateKey = K9J2pIyR5dY1Xv4p+j2TDSCTZPLX/rO/naeGN3Uj7Uk=", "K9J2pIyR5dY1Xv4p+j2TDSCTZPLX/rO/naeGN3Uj7Uk"),
    ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=b5ba2c61-56bb-4e04-a97f-680553bfef02", "b5ba2c61"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\naC1rZXkt\n-----END OPENSSH PRIVATE KEY-----", "aC1rZXkt"),
]
ELSEWHERE = [
    "password: ${DB_PASSWORD}",
    'conn = connect(password=os.environ["PGPASSWORD"])',
    "password = getpass.getpass()",
    "password: str = Field(min_length=8)",
    "const token = await getToken(user.id)",
    "def login(username: str, password: str) -> bool:",
    "if password == confirm_password:",
    '"password": { "type": "string", "minLength": 8 }',
    "export GITHUB_TOKEN=your_token_here",
    "set OPENAI_API_KEY=<YOUR_KEY>",
    "POSTGRES_PASSWORD=changeme",
    "key: sk-****************",
    "Incorrect API key provided: sk-xxxx****xxxx",
    "postgres://用户名:密码@主机:5432/库名",
    "mysql://user:password@localhost/db",
    "redis://localhost:6379/0",
    "ssh -i ~/.ssh/id_rsa -p 2222 user@10.0.0.3",
    "docker run -p 8080:80 nginx",
    "MAX_TOKENS=4096",
    "PASSWORD_RESET_TIMEOUT=3600",
    "$2b$12$5JwZLlICq.1fFSnTBbXQN78R7tO7wKuGxQTdnSM2EGzHQm7tqU9CU",
    "sha256:850f7b238fcbbf7ca737c1881b237336ce3c2b81d5548c0269acd77727d9a66b",
    "commit 8db50af24536b63faff9d718799b88674cd05d97",
    "traceId=67d57d8f12a1b21e896d1f0fa3428f1a",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIZ9Tc/urvZvWGogSHForF8L1wxcPbgeYvthVaoK6FF0g",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEih6av4dm\n-----END PUBLIC KEY-----",
    "bc1qg4fvs5ldlhtv2usn28y8wejrugwfzjzree65ku",
    "0x985420267f9b36a1f8588ed1265cdc4d286981f0247daad8922ce9b5373122a8",
    "pk_live_51TEt07kBMaXojk4GchnNslfVF1EiHZheWQbS0hILQPeAEzVLTLCrcP4BvQ5K1aD",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "branch feature/login-2fa-3391",
    "pod checkout-7d9f8b6c54-qconp",
    "imei 351045301707238",
    "发票号码 24312000000319323794",
]
HOSTILE = [
    "password ",
    "密码",
    "密码是 ",
    "token=",
    '密码"',
    "-----BEGIN RSA PRIVATE KEY-----",
    "eyJaaaaaaaaa.",
    "a_-",
    "1 ",
    "八个8加",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["用这个 {} 就行", "I pasted {} and it still says 401"])
def test_tokens_are_detected_by_their_form(token: str, around: str) -> None:
    clean, _ = redact(around.format(token))
    assert clean == around.format("[SECRET]")


@pytest.mark.parametrize(("text", "secret"), SETTINGS)
def test_settings_commands_and_addresses_are_read(text: str, secret: str) -> None:
    assert refuses(text) is not None
    assert secret not in redact(text)[0]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_references_to_secrets_and_similar_text_are_unchanged(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("password", "x1y2", "password"),
        ("密码", "向日葵", "password"),
        ("pin", "4471", "code"),
        ("door_code", "7719", "code"),
        ("backup_codes", "8k2m-41xq", "code"),
        ("apiKey", "9f8e7d6c5b4a39281706", "token"),
        ("seed_phrase", "otter lamp gravel", "password"),
        ("error_code", "404", None),
        ("token", "abc", None),
        ("session_id", "s1", None),
        ("password", "${PASSWORD}", None),
        ("key", "pref:writing:tone", None),
    ],
)
def test_a_field_name_classifies_its_value(name: str, value: str, kind: str | None) -> None:
    assert kind_of_field(name, value) == kind


def test_an_id_is_a_secret_only_in_a_known_form() -> None:
    assert kind_of_id(TOKENS[1]) == "provider_key"
    assert kind_of_id("call_AbC123dEf456GhI789jKl012MnO") is None
    assert kind_of_id("550e8400-e29b-41d4-a716-446655440000") is None


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear_in_the_length(piece: str) -> None:
    def least(chars: int) -> float:
        text = (piece * (chars // len(piece) + 1))[:chars]
        took: list[float] = []
        for _ in range(3):
            began = time.process_time()
            find_secrets(text)
            took.append(time.process_time() - began)
        return min(took)

    assert least(40_000) < 30 * max(least(4_000), 0.001)


PERSONAL = [
    ("护照 EJ4820916 下月到期", "护照 [ID_NUMBER] 下月到期"),
    ("my passport no. 548203719, issued in Leeds", "my passport no. [ID_NUMBER], issued in Leeds"),
    ("my social is 417-62-8305", "my social is [ID_NUMBER]"),
    ("身份证 11010519491231002X", "身份证 [ID_NUMBER]"),
    ("工资卡 6217001234567890128", "工资卡 [BANK_CARD]"),
    ("order number 4539972800756266", "order number 4539972800756266"),
    ("条形码 6901234567892", "条形码 6901234567892"),
    ("passport valid until 2031", "passport valid until 2031"),
]


@pytest.mark.parametrize(("text", "expected"), PERSONAL)
def test_personal_numbers_need_a_label_or_a_valid_checksum(text: str, expected: str) -> None:
    assert redact(text)[0] == expected
