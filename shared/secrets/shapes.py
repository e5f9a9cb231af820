"""Secrets with a known form: provider tokens, key blocks, addresses with a password.

Besides the forms here, which use more context, those of a maintained collection are used: the plugins of
detect-secrets, as data; `make lock ARGS=--upgrade` updates them.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache

from shared.language.patterns import to_pattern
from shared.secrets.model import SecretHit, SecretKind
from shared.secrets.values import is_call, is_placeholder, is_varied, looks_generated

_LEFT_OUT = frozenset({"base", "ip_public", "npm", "basic_auth", "keyword", "high_entropy_strings"})
"""An internet address is no secret; `shapes` reports the next two, in linear time; the last is a guess."""
_LONG_WORD = to_pattern(r"[A-Za-z0-9_+/=-]{16}")
"""A text without a word of this length has none of the forms."""
_SHORTEST = 16
"""A shorter group of a form is the prefix of a key, such as `ghp`."""


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """All forms; loaded when a text first has a long word with a digit."""
    plugins = importlib.import_module("detect_secrets.plugins")
    base = importlib.import_module("detect_secrets.plugins.base").RegexBasedDetector
    forms: list[re.Pattern[str]] = []
    for each in pkgutil.iter_modules(plugins.__path__):
        if each.name in _LEFT_OUT:
            continue
        module = importlib.import_module(f"detect_secrets.plugins.{each.name}")
        kinds = (
            kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__
        )
        forms += (form for kind in kinds if issubclass(kind, base) for form in getattr(kind, "denylist", ()))
    return tuple(forms)


def find_catalogued(text: str) -> Iterator[SecretHit]:
    """Every key and token of a known form; a word without a digit is none."""
    if not _LONG_WORD.search(text) or not any(map(str.isdigit, text)):
        return
    for form in _forms():
        for match in form.finditer(text):
            spans = [match.span(group) for group in range((match.lastindex or 0) + 1)]
            start, end = min(
                (s for s in spans if s[1] - s[0] >= _SHORTEST), key=lambda s: s[1] - s[0], default=spans[0]
            )
            if any(map(str.isdigit, text[start:end])):
                yield SecretHit("token", start, end)


_LONG = to_pattern(r"[A-Za-z0-9_.~+/=:%@-]{14}")
"""Nothing shorter than this run is a token."""
_RUN = to_pattern(r"[A-Za-z0-9_.~+/=:%@-]{14,}")
_EDGE = r"(?<![A-Za-z0-9])"
_PREFIXED: tuple[tuple[str, str], ...] = (
    (
        r"sk-(?:proj-|ant-|or-|live-|test-|svcacct-|admin-|lf-|kimi-)?",
            r"(?=[A-Za-z_-]{0,80}\d|[A-Za-z0-9]{24})[A-Za-z0-9_-]{10,256}"),
    (r"AIza|AQ\.Ab", r"[A-Za-z0-9_-]{10,64}"),
    (r"gh[pousr]_", r"[A-Za-z0-9]{16,255}"),
    (r"github_pat_", r"[A-Za-z0-9_]{20,255}"),
    (r"gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|imt|agent|feed)-", r"[A-Za-z0-9_.-]{16,128}"),
    (r"(?:AKIA|ASIA|AROA|AGPA|AIDA|ABIA|ACCA)", r"[A-Z0-9]{12,20}(?![A-Za-z0-9])"),
    (r"xox[abceoprs]-|xapp-|xwfp-", r"[A-Za-z0-9-]{10,255}"),
    (r"(?:sk|rk)_(?:live|test|prod)_|sk_(?=[a-f0-9]{40})", r"[A-Za-z0-9]{10,255}"),
    (r"whsec_", r"[A-Za-z0-9+/=]{16,255}"),
    (
        r"hf_|api_org_|gsk_|r8_|pplx-|fw_|tgp_v1_|xai-|nvapi-|tvly-|jina_|vck_|csk-|co_|"
        r"pa-(?=.{0,20}\d)", r"[A-Za-z0-9_-]{20,160}"),
    (r"npm_|npmtok_", r"[A-Za-z0-9]{30,64}"),
    (r"pypi-|testpypi-", r"[A-Za-z0-9_-]{30,512}"),
    (r"do[oprt]_v1_", r"[a-f0-9]{40,80}"),
    (r"SG\.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    (r"LTAI", r"[A-Za-z0-9]{12,30}"),
    (r"AKID", r"[A-Za-z0-9]{24,48}"),
    (r"AKLT|AKTP", r"[A-Za-z0-9]{16,64}"),
    (r"ya29\.|1//0", r"[A-Za-z0-9_-]{20,512}"),
    (r"GOCSPX-", r"[A-Za-z0-9_-]{20,64}"),
    (r"shp(?:at|ca|pa|ss|tka|ua)_", r"[a-fA-F0-9]{24,64}"),
    (r"EAACEdEose0cBA|EAA[A-Z](?=.{0,30}\d)", r"[A-Za-z0-9]{20,255}"),
    (r"EAAA|sq0[a-z]{3}-", r"[A-Za-z0-9_-]{20,64}"),
    (r"key-(?=[0-9a-f]{32})", r"[0-9a-f]{32}"),
    (r"AGE-SECRET-KEY-1", r"[A-Z0-9]{40,64}"),
    (r"lin_(?:api|oauth)_|figd_|figo_|figur_|secret_|ntn_|patp?_(?=.{0,20}\d)", r"[A-Za-z0-9_-]{20,128}"),
    (r"dckr_(?:pat|oat)_", r"[A-Za-z0-9_-]{20,64}"),
    (r"CCI(?:PAT|PRJ)_", r"[A-Za-z0-9_]{20,128}"),
    (r"hv[sbr]\.|[sbr]\.(?=[A-Z])(?=[A-Za-z0-9]{24}\b)", r"[A-Za-z0-9_-]{24,256}"),
    (r"PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    (r"rubygems_|RGAPI-|sbp_|sb_secret_|supabase_|dapi|dp\.(?:pt|st|ct|sa)\.|pul-|tfp_|HRKU-|rnd_|fly_|fo1_",
     r"(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_.-]{20,256}"),
    (r"glc_|glsa_|eyJrIjoi", r"[A-Za-z0-9+/=_-]{20,256}"),
    (r"NRAK-|NRJS-|NRII-|NRRA-", r"[A-Za-z0-9_-]{16,64}"),
    (
        r"sntr[yu]s_|sqp_|sqa_|squ_|phx_|phs_|nfp_|nfc_|cfut_|v1\.0-|ops_|ATATT3?|ATCTT3?|ATBB|ATOA|AAHKY|"
        r"atlasv1\.|CFPAT-|contentful_",
     r"(?=[A-Za-z_=-]{0,40}\d)[A-Za-z0-9_.=-]{20,512}"),
    (r"pat[A-Za-z0-9]{14}\.", r"[a-f0-9]{64}"),
    (r"xkeysib-|xsmtpsib-|mg-key-|re_", r"(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{20,128}"),
    (r"(?:live|test)_(?=[a-f0-9]{32})|sandbox_sk_|APP_USR-|rzp_live_|flwseck_", r"[A-Za-z0-9_-]{14,128}"),
    (
        r"ak-|ark-|bce-v3/|app-(?=[A-Za-z0-9]{24}\b)|dataset-(?=[A-Za-z0-9]{24}\b)|pat_|sat_|fastgpt-|coze_",
            r"(?=[A-Za-z_/-]{0,40}\d)[A-Za-z0-9_/-]{20,256}"),
    (r"\d{8,10}:AA", r"[A-Za-z0-9_-]{31,36}"),
    (r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.", r"[A-Za-z0-9_-]{25,40}"),
    (r"[0-9a-f]{32}\.(?=[A-Za-z]*\d)", r"[A-Za-z0-9]{14,18}(?![A-Za-z0-9])"),
    (r"[TCV][A-Za-z0-9]{3,10}~", r"[A-Za-z0-9_.~-]{30,64}"),
    (r"PRIVATE-TOKEN-|oauth2:|x-access-token:", r"[A-Za-z0-9_.-]{16,128}"),
    (r"SEC(?=[a-f0-9]{64})", r"[a-f0-9]{64}"),
    (r"SCT\d{3,7}T", r"[A-Za-z0-9]{20,40}"),
)  # fmt: skip
_PROVIDER = to_pattern(_EDGE + "(?:" + "|".join(f"(?:{head}){body}" for head, body in _PREFIXED) + ")")
_SHAPES: tuple[tuple[SecretKind, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "jwt",
        ("eyJ",),
        to_pattern(
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{6,4096}(?:\.[A-Za-z0-9_-]{0,1024}){0,3}"
        ),
    ),
    (
        "bearer",
        ("earer", "EARER", "asic", "ASIC"),
        to_pattern(
            r"\bauthorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:basic|bearer|token)\s+[A-Za-z0-9._~+/-]{8,2048}={0,2}"
            r"|\b(?:bearer|basic)\s+(?=[A-Za-z._~+/=-]{0,200}\d|[A-Za-z0-9._~+/-]{24})[A-Za-z0-9._~+/-]{12,2048}={0,2}",
            re.I,
        ),
    ),
    (
        "connection_string",
        ("://",),
        to_pattern(
            r"\b[a-z][a-z0-9+.-]{1,24}://[^\s:/@'\"]{0,80}:(?P<password>[^\s/@'\"]{1,128}|"
            r"[^\s@'\"]{1,128})@[^\s'\"，。；]{1,300}",
            re.I,
        ),
    ),
    (
        "connection_string",
        ("://", "AccountKey=", "SharedAccess", ".com/", ".cn/", ".net/"),
        to_pattern(
            r"\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=[A-Za-z0-9+/=%_-]{16,256}"
            r"|hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,120}"
            r"|oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-fA-F]{16,80}"
            r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[0-9a-fA-F-]{16,80}"
            r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/[0-9a-zA-Z-]{16,80}"
            r"|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{10,25}/[A-Za-z0-9_-]{30,100}"
            r"|[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{30,250}"
            r"|hooks\.zapier\.com/hooks/catch/\d{3,12}/[A-Za-z0-9]{5,30}|"
            r"maker\.ifttt\.com/\S{1,80}/key/[A-Za-z0-9_-]{16,64}"
            r"|api\.telegram\.org/bot\d{6,12}:[A-Za-z0-9_-]{20,60}|api\.day\.app/[A-Za-z0-9]{16,40}"
            r"|sctapi\.ftqq\.com/[A-Za-z0-9]{20,60}"
            r"|[?&](?:X-Amz-Signature|sig|signature|access_token|auth_token|api_?key|appkey|token|secret|password|"
            r"passwd|pwd)"
            r"=[A-Za-z0-9%._~+/-]{8,512}",
            re.I,
        ),
    ),
)
_KEY_BEGINS = to_pattern(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = to_pattern(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY = to_pattern(r"Private-Lines: \d{1,4}\s+[A-Za-z0-9+/=\s]{40,16000}")
_GROUPS = to_pattern(
    r"(?<![A-Za-z0-9-])(?:(?:[A-Z0-9]{5}-){4}[A-Z0-9]{5}|\d{6}(?:-\d{6}){7}|(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}"
    r")(?![A-Za-z0-9-])"
)
"""A product key, a disk recovery key, an authenticator seed."""
_DIGIT = to_pattern(r"\d")
_GROUPED = to_pattern(r"\d[A-Z0-9]{0,5}[ -][A-Z0-9]{4}|[A-Z0-9]{4}[ -][A-Z0-9]{0,5}\d")
_BARE = to_pattern(
    r"(?<![A-Za-z0-9_.~+/=:%@&?#\\-])[A-Za-z0-9_-]{28,200}(?![A-Za-z0-9_.~+/=:%@-]*[A-Za-z0-9_~+/=%@-]{4})"
)
_ADDRESSED = to_pattern(
    r"(?:hash|sha-?\d*|md5|digest|checksum|commit|etag|integrity|address|addr|fingerprint|公钥|地址|指纹|校验和|"
    r"public key|"
    r"publishable|\bid|编号|_id|Id|ID|uuid|cid|nonce|img|image|base64|data|ssh-\S+|wallet|tx|钱包|contract|合约|"
    r"哈希|签名|signature"
    r"|sid|slug|build|tag|ref|branch|文件|file|video|playlist|doc|sheet)[\"']?(?:\s{0,2}(?:is|是|为|:|：|=|"
    r"#))*\s{0,2}[\"'`(]?$",
    re.I,
)
_ADDRESS = to_pattern(
    r"[13][1-9A-HJ-NP-Za-km-z]{25,34}|T[1-9A-HJ-NP-Za-km-z]{33}|Qm[1-9A-HJ-NP-Za-km-z]{44}|pk_\w+|AAAA[A-Z]\S*|"
    r"MFk\S*|MII\S*|[1-9A-HJ-NP-Za-km-z]{43,44}"
)


def find_shaped(text: str) -> Iterator[SecretHit]:
    """Every secret of a known form, whatever its context."""
    if not _LONG.search(text):
        if "-----BEGIN" not in text and " " not in text:
            return
    else:
        yield from _tokens(text)
    yield from _key_blocks(text)
    for kind, signs, pattern in _SHAPES:
        if not any(sign in text for sign in signs):
            continue
        for match in pattern.finditer(text):
            word = match.groupdict().get("password")
            if (word is not None and _no_password(word)) or (
                word is None and kind != "private_key" and is_masked(match.group())
            ):
                continue
            yield SecretHit(kind, match.start(), match.end())
    for match in _GROUPS.finditer(text) if _DIGIT.search(text) and _GROUPED.search(text) else ():
        group = match.group()
        if (
            any(c.isdigit() for c in group)
            and (group[0].isdigit() or any(c.isalpha() for c in group))
            and not group.isdigit()
        ):
            yield SecretHit("token", match.start(), match.end())


def _key_blocks(text: str) -> Iterator[SecretHit]:
    """Private keys from their first line to their last, or to the end of the text without it."""
    at = 0
    while "-----BEGIN" in text and (first := _KEY_BEGINS.search(text, at)):
        last = _KEY_ENDS.search(text, first.end())
        at = last.end() if last else len(text)
        yield SecretHit("private_key", first.start(), at)
    for match in _PUTTY.finditer(text) if "Private-Lines" in text else ():
        yield SecretHit("private_key", match.start(), match.end())


def _sample(token: str) -> bool:
    """Whether the token is a placeholder."""
    body = re.split(r"[-_.]", token, maxsplit=1)[-1]
    return (is_placeholder(body) and not token.startswith(("AKIA", "ASIA"))) or len(set(body)) < 4


def is_masked(said: str) -> bool:
    value = re.split(r"[=\s/]", said.rstrip("="))[-1]
    return bool(re.search(r"x{4}|\*{2}|\.{3}|YOUR|<", said, re.I)) and is_placeholder(value)


def _no_password(word: str) -> bool:
    """Whether the password of an address is a placeholder."""
    return (
        (is_placeholder(word) and word.lower() not in ("admin", "test", "secret", "password", "root"))
        or is_call(word)
        or (not word.isascii() and bool(re.search(r"密码|口令|password", word)))
        or word.lower() in ("password", "pass", "pwd", "passwd")
    )


def _tokens(text: str) -> Iterator[SecretHit]:
    """Tokens in the long runs of the text; the rest is not read."""
    for run in _RUN.finditer(text):
        said = run.group()
        if not _DIGIT.search(said) and (len(said) < 20 or said.islower()):
            continue
        for match in _PROVIDER.finditer(text, run.start(), run.end()):
            if not _sample(match.group()):
                yield SecretHit("provider_key", match.start(), match.end())
        yield from find_unlabelled(text, run.start(), run.end())


def find_unlabelled(text: str, start: int, stop: int) -> Iterator[SecretHit]:
    """Long random runs that nothing calls a hash, an address or an id."""
    for match in _BARE.finditer(text, start, stop):
        run = match.group()
        if (
            is_varied(run)
            and not ("-----BEGIN" in text and text[match.start() - 1 : match.start()] == "\n")
            and looks_generated(run, 28)
            and not _ADDRESS.fullmatch(run)
            and not _ADDRESSED.search(text[max(0, match.start() - 24) : match.start()])
        ):
            yield SecretHit("token", match.start(), match.end())
