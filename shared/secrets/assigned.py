"""Secrets in structured text: settings, JSON, headers, cookies, flags of commands, SQL."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.secrets.lexicon import NO_SETTING
from shared.secrets.model import SecretHit, SecretKind
from shared.secrets.values import is_call, is_hash, is_placeholder, look, look_alike, looks_generated

_SURE = (
    r"(?:[a-z]{0,12}(?:password|passwd|passphrase|pwd)|(?:db|my|root|admin|user|smtp|mail|ftp|wifi|redis|mysql|pg|"
    r"login|ssh|vpn|sudo|app|key)?"
    r"pass(?:code)?|passw|pswd|psw|密码|口令|(?:api|app|auth|access|secret|private|signing|encryption|encrypt"
    r"|account|master|service|sign|jwt|session|license|shared|ssh|aes|des|hmac|consumer|client|security|apiv3|mch|"
    r"pay|hook"
    r"|webhook|bot|personal|refresh|id|bearer|csrf|xsrf|deploy|admin|root|user|db|redis|mysql|github|gitlab|npm|role)?"
    r"[_-]?(?:secret|token)s?|(?:api|app|auth|access|secret|private|signing|encryption|encrypt|account|master|sign|"
    r"jwt|session"
    r"|license|shared|aes|des|hmac|consumer|security|apiv3|mch|pay|storage|subscription|rsa|ssh|role|service|"
    r"admin)[_-]?key"
    r"|secret[_-]?access[_-]?key|auth|authorization|credentials?|cred|preshared[_-]?key|psk|wi-?fi[_-]?key|"
    r"(?:access|door|gate|garage|alarm|safe|entry|verification|verify|sms|security|backup|recovery|login|unlock|otp|"
    r"auth|mfa|2fa)[_-]?code|otp|pin|pin[_-]?code|"
    r"cvv|cvc"
    r"|密钥|私钥|令牌|mnemonic|seed[_-]?phrase|seed[_-]?words|passkey|sessdata|bili_jct|bduss|stoken|"
    r"ak|sk|(?:corp|mch|dev|sub|priv?|enc|agent|suite|merchant|partner|site|server|host)(?:secret|key)|phpsessid|"
    r"jsessionid|sessionid|session[_-]?id|connect\.sid|_session|session|sid|li_at|pt_key|pt_pin_key|sess|"
    r"cookie|wskey|webhook)"
)
_NAME = to_pattern(
    rf"(?:^|.*[^A-Za-z]){_SURE}(?:[_-]?(?:\d{{1,2}}|prod|dev|live|new|old|value|raw|base64|b64|hash(?=$)))?", re.I
)
_NOT_NAME = to_pattern(
    r".*(?:public|publishable|max|min|num|count|limit|total|used|length|len|type|expir|policy|url|uri|path|file|"
    r"endpoint|ttl"
    r"|cache|primary|foreign|partition|sort|idempotency|object|row|group|routing|dedup|i18n|hash|digest|next_page|"
    r"page|cursor)"
    r"[_-]?(?:key|tokens?)?|.*tokens",
    re.I,
)
_PHRASE = to_pattern(r".*(?:phrase|mnemonic|words|password|助记词|口令)", re.I)
_SESSION = to_pattern(
    r"(?:sess\w*|sid|.*session(?:[_-]?id)?|cookie|auth|connect\.sid|webhook|id_?token|wskey|li_at|pt_key)", re.I
)
_PASS = to_pattern(r".*(?:psk|pass|wi-?fi|pwd|psw|密码|口令|pin|otp|cvv|cvc|mnemonic|phrase|words).*", re.I)
_CODE = to_pattern(r".*(?:pin|otp|cvv|cvc|code)", re.I)
_ASSIGN = to_pattern(
    r"(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z_][A-Za-z0-9_.-]{1,60}|密码|口令|密钥|私钥|令牌)(?:[\"'`]|\\\")?\]?[ \t]{0,8}"
    r"(?::=|=>|={1,3}|[:：＝])[ \t]{0,8}"
    r"(?:[bruf]?(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\n\\]{1,300})(?=\\?[\"'`])|"
    r"(?P<bare>[^\s\"'`,，;；。<>\u3000-\u9fff]{1,300}))"
)
_ENDS = to_pattern(r"[^\w\n]{0,3}(?:$|\n|[,，;；&#}])")
_FLAG = to_pattern(
    r"(?<![\w-])--?(?:password|passwd|pass|passphrase|pwd|token|secret|api-?key|access-?key|secret-?key|auth-?token|"
    r"authtoken|auth"
    r"|requirepass|pin|key|client-?secret|db-?pass\w*|admin-?pass\w*)(?:[= "
    r"]\s{0,2})(?P<quote>[\"'])?(?P<value>[^\s\"']{3,300})"
)
_LOGIN = to_pattern(
    r"\b(?:sshpass|docker|podman|helm|oc|mysql\w*|mariadb\w*|mongo\w*|twine|7z|7za|rar|unrar|zip|az|skopeo|buildah|"
    r"nerdctl|mosquitto_\w+"
    r"|vncpasswd|rdesktop|xfreerdp|expect|wget|lftp|smbclient|ldap\w+|htpasswd|redis-cli|valkey-cli|cf|pscp|plink|"
    r"putty|sqlcmd|bcp|isql|hydra|gpg|openssl)\b"
    r"(?P<rest>[^\n]{0,240})"
)
_LOGIN_FLAG = to_pattern(r"(?<![\w-])-(?:[pPaw]|hp)(?:\s{1,2}|=)?(?P<quote>[\"'])?(?P<value>[^\s\"'-][^\s\"']{2,120})")
_IDENTIFIER = to_pattern(r"[a-z]+(?:_[a-z]+)+", re.I)
_PORT = to_pattern(r"\d{1,5}(?::\d{1,5})?(?:/\w+)?")
_USER = to_pattern(
    r"(?<![\w-])(?:-u|--user|--proxy-user)\s?(?P<quote>[\"'])?(?P<user>[^\s:\"'/]{1,80}):(?P<value>[^\s\"']{3,200})"
)
_STATED = ("identified", "requirepass", "masterauth", "pass:", "machine", "thin:", "sqlplus", "sqlldr")
_SQL = to_pattern(
    r"\b(?:identified\s+(?:with\s+\w+\s+)?by|requirepass|masterauth|-passin\s+pass:|-passout\s+pass:|"
    r"pass:)\s*(?P<quote>[\"'])?"
    r"(?P<value>[^\s\"';]{3,120})",
    re.I,
)
_ORACLE = to_pattern(r"(?:\bthin:|\bsqlplus\s+|\bsqlldr\s+)\w{1,40}/(?P<value>[^\s@/]{3,60})@", re.I)
_ATTRIBUTE = to_pattern(
    r"(?:key|name)\s?=\s?[\"'](?P<name>[\w.-]{2,60})[\"']\s{1,4}value\s?=\s?[\"'](?P<value>[^\"'\n]{3,200})[\"']"
)
_PAIRED = to_pattern(r"auth\s?=\s?\(\s?[\"'][^\"'\n]{0,80}[\"'],\s?[\"'](?P<value>[^\"'\n]{3,120})[\"']")
_PIPED = to_pattern(r"echo\s+[\"']?(?P<value>[^\s\"'|]{3,120})[\"']?\s{0,3}\|\s{0,3}sudo -S")
_NETRC = to_pattern(r"\bmachine\s+\S{1,80}\s+login\s+\S{1,80}\s+password\s+(?P<value>\S{3,120})", re.I)
_COOKIE = to_pattern(r"\b(?:set-)?cookies?[\"']?\s{0,2}[:：=]?\s{0,2}(?P<jar>[^\n\"]{0,1500})", re.I)
_CRUMB = to_pattern(r"(?<![\w.-])[\w.-]{1,40}=(?P<value>[A-Za-z0-9%._~*+/-]{12,600})")


def find_assigned(text: str, low: str) -> Iterator[SecretHit]:
    """Every value of a setting, field, header, cookie, flag or statement with a telling name."""
    if "=" in text or ":" in text or "：" in text or "＝" in text:
        for match in _ASSIGN.finditer(text):
            group = "quoted" if match["quoted"] is not None else "bare"
            kind = kind_under(match["name"])
            if kind is None or is_placeholder(match[group]):
                continue
            value = match[group] if group == "quoted" else strip_rest(match[group])
            if text[match.start() - 2 : match.start()] == "${" or (
                group == "bare" and look(value) == "word" and not _ENDS.match(text, match.start(group) + len(value))
            ):
                continue
            if holds(match["name"], value, quoted=group == "quoted"):
                yield SecretHit(kind, match.start(group), match.start(group) + len(value))
    for match in _ATTRIBUTE.finditer(text) if "value" in low else ():
        if (kind := kind_under(match["name"])) and holds(match["name"], match["value"], quoted=True):
            yield SecretHit(kind, match.start("value"), match.end("value"))
    for pattern in (_PAIRED, _PIPED) if "auth" in low or "sudo" in low else ():
        for match in pattern.finditer(text):
            if not is_placeholder(match["value"]):
                yield SecretHit("password", match.start("value"), match.end("value"))
    if " -" in text:
        yield from _commands(text)
    if any(sign in low for sign in _STATED):
        for pattern in (_SQL, _NETRC, _ORACLE):
            for match in pattern.finditer(text):
                if not is_placeholder(match["value"]) and not is_call(match["value"]):
                    yield SecretHit("password", match.start("value"), match.end("value"))
    if "cookie" in low:
        for jar in _COOKIE.finditer(text):
            for crumb in _CRUMB.finditer(text, jar.start("jar"), jar.end("jar")):
                if looks_generated(crumb["value"], 12) and not is_placeholder(crumb["value"]):
                    yield SecretHit("token", crumb.start("value"), crumb.end("value"))


def kind_under(name: str) -> SecretKind | None:
    """The kind of a value under this name; None if the name says nothing."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    if not _NAME.fullmatch(name) or _NOT_NAME.fullmatch(name):
        return None
    if _CODE.fullmatch(name):
        return "code"
    return "password" if _PASS.fullmatch(name) else "token"


def holds(name: str, value: str, *, quoted: bool) -> bool:
    """Whether the value of a setting with a telling name is a secret, and not a path or reference to one."""
    value = value.strip()
    if len(value) < 3 or is_placeholder(value) or is_hash(value) or (not quoted and (is_call(value) or _code(value))):
        return False
    if is_call(value) and (look(value) != "mixed" or "(" in value or "[" in value):
        return False
    seen = look(value)
    if kind_under(name) == "code":
        return bool(re.fullmatch(r"[A-Za-z0-9 -]{3,12}", value)) and any(c.isdigit() for c in value)
    if not _PASS.fullmatch(name):
        if name.lower().endswith("secret") and look(value) == "mixed" and len(value) >= 6 and not look_alike(value):
            return True
        return looks_generated(value, 16 if _SESSION.fullmatch(name) or name.islower() else 8)
    if seen is None or value.lower() in name.lower() or name.lower() in value.lower():
        return False
    if not quoted and value.startswith(("http://", "https://")):
        return False
    if not quoted and not value.isascii():
        return False
    if " " in value:
        return (
            seen == "mixed"
            and len(value) <= 40
            and not re.search(r"\b(?:your|the|must|least|characters?)\b", value, re.I)
        )
    if name.lower() == "pass" and not quoted and seen != "mixed":
        return seen == "signed" and not look_alike(value)
    if seen == "word":
        return (
            len(value) >= 5
            and value.isascii()
            and value.lower() not in NO_SETTING
            and (quoted or not value[0].isupper())
        )
    if seen == "digits":
        return 3 <= len(value) <= 20 and bool(quoted or len(value) >= 4)
    return quoted or not (look_alike(value) or (_IDENTIFIER.fullmatch(value) and _NAME.fullmatch(value)))


def is_phrase(name: str, value: str) -> bool:
    """Whether the value is a phrase under a name that requires one."""
    return bool(_PHRASE.fullmatch(name)) and not is_placeholder(value) and len(value.split()) >= 3


def strip_rest(value: str) -> str:
    """The value without the code or prose that follows it."""
    value = re.split(r"[&|](?=[\w-]+=)|\\n|\\\"|(?<=\w)[)\]}]+[.:]?$", value, maxsplit=1)[0]
    return value.rstrip(").,:?]}") if not re.search(r"[(\[{]", value) else value


def _code(value: str) -> bool:
    """Whether the value is an expression: a dotted name, a type."""
    return bool(
        re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z]+\[.*|[A-Za-z_]\w*\(.*|[A-Z][A-Z0-9]*_[A-Z_]+", value)
    )


def _commands(text: str) -> Iterator[SecretHit]:
    for match in _FLAG.finditer(text):
        value = match["value"]
        if (
            not is_placeholder(value)
            and not is_call(value)
            and not value.startswith("-")
            and look(value)
            and not value.startswith("$")
        ):
            yield SecretHit("password", match.start("value"), match.end("value"))
    for match in _USER.finditer(text):
        value = match["value"]
        if not is_placeholder(value) and not _PORT.fullmatch(value) and not value.startswith("$") and look(value):
            yield SecretHit("password", match.start("value"), match.end("value"))
    for command in _LOGIN.finditer(text):
        for match in _LOGIN_FLAG.finditer(text, command.start("rest"), command.end("rest")):
            value = match["value"]
            if (
                is_placeholder(value)
                or is_call(value)
                or (not match["quote"] and _PORT.fullmatch(value))
                or value[0] in "$/."
            ):
                continue
            if match["quote"] or not re.fullmatch(r"[a-z]+(?:[-=][a-z]+)*", value):
                yield SecretHit("password", match.start("value"), match.end("value"))
