"""Numbers of documents and accounts of several countries, addresses, and key formats of public collections."""

import pytest

from shared.policy import PersonalDataPolicy
from shared.secrets import MAY_STAND, find_secrets, redact

NUMBERS = [
    ("NHS number 943 476 5919", "NHS number [ID_NUMBER]"),
    ("my NHS no. is 943 476 5918", "my NHS no. is 943 476 5918"),
    ("NI number QQ 12 34 56 C", "NI number [ID_NUMBER]"),
    ("mi DNI es 12345678Z", "mi DNI es [ID_NUMBER]"),
    ("mi NIE: X1234567L", "mi NIE: [ID_NUMBER]"),
    ("the order 12345678Z is late", "the order 12345678Z is late"),
    ("numéro de sécu 2 95 10 99 126 111 93", "numéro de sécu [ID_NUMBER]"),
    ("codice fiscale RSSMRA85T10A562S", "codice fiscale [ID_NUMBER]"),
    ("codice fiscale RSSMRA85T10A562X", "codice fiscale RSSMRA85T10A562X"),
    ("PESEL 44051401359", "PESEL [ID_NUMBER]"),
    ("BSN 111222333", "BSN [ID_NUMBER]"),
    ("meine Steuer-ID ist 86095742719", "meine Steuer-ID ist [ID_NUMBER]"),
    ("my ssn is 078-05-1120", "my ssn is [ID_NUMBER]"),
    ("身份证 11010519491231002X", "身份证 [ID_NUMBER]"),
    ("我的护照是 E12345678", "我的护照是 [ID_NUMBER]"),
    ("IBAN DE89 3704 0044 0532 0130 00, danke", "IBAN [BANK_CARD], danke"),
    ("IBAN DE88 3704 0044 0532 0130 00", "IBAN DE88 [BANK_CARD]"),
    ("工资卡 6222021234567890123", "工资卡 [BANK_CARD]"),
    ("老身份证号码 330106880512043", "老身份证号码 [ID_NUMBER]"),
    ("条形码 330106880512043", "条形码 330106880512043"),
    ("我的驾照号 440301995110", "我的驾照号 [ID_NUMBER]"),
    ("my driver's license is D1234567", "my driver's license is [ID_NUMBER]"),
    ("UK driving licence MORGA753116SM9IJ", "UK driving licence [ID_NUMBER]"),
    ("driver's license renewal costs 40 dollars", "driver's license renewal costs 40 dollars"),
    ("my NINO is ab 12 34 56 c", "my NINO is [ID_NUMBER]"),
    ("social security: 219.09.9999", "social security: [ID_NUMBER]"),
    ("French social security number 1 85 05 78 006 084 91", "French social security number [ID_NUMBER]"),
    ("rijksregisternummer 85.07.30-033.28", "rijksregisternummer [ID_NUMBER]"),
    ("mitt personnummer är 811228-9874", "mitt personnummer är [ID_NUMBER]"),
    ("the order 811228-9874 is late", "the order 811228-9874 is late"),
    ("my PPS number is 1234567FA", "my PPS number is [ID_NUMBER]"),
    ("henkilötunnus 131052-308T", "henkilötunnus [ID_NUMBER]"),
    ("my iban is nl91abna0417164300", "my iban is [BANK_CARD]"),
    ("card 5424.1812.3456.7894", "card [BANK_CARD]"),
    ("sort code 60-16-13, account number 31926819", "sort code [BANK_CARD], account number [BANK_CARD]"),
    ("routing 021000021, acct no 000123456789", "routing 021000021, acct no [BANK_CARD]"),
    ("the account 31926819 on the forum", "the account 31926819 on the forum"),
]
ADDRESSES = [
    ("I live at 12 Baker Street, London NW1 6XE.", "I live at [ADDRESS]."),
    ("ship it to 742 Evergreen Terrace, Springfield, IL 62704", "ship it to [ADDRESS]"),
    ("Musterstraße 12, 10115 Berlin", "[ADDRESS]"),
    ("12 rue de la Paix, 75002 Paris", "[ADDRESS]"),
    ("我住北京市海淀区中关村大街27号3单元502室", "我住[ADDRESS]"),
    ("送到万科花园3号楼2单元501室", "送到[ADDRESS]"),
    ("寄到西湖区文三路 478 号 3 幢 502 室", "寄到[ADDRESS]"),
    ("my place is 350 5th Avenue, New York, NY 10118", "my place is [ADDRESS]"),
    ("we moved to 18 Elm Grove, Bristol BS6 5AB", "we moved to [ADDRESS]"),
    ("we walked 12 miles on Long Road", "we walked 12 miles on Long Road"),
    ("在路上，坐3号线地铁，走了一里路 5号出发", "在路上，坐3号线地铁，走了一里路 5号出发"),
]


@pytest.mark.parametrize(("text", "clean"), NUMBERS)
def test_numbers_of_documents_and_accounts_never_stay(text: str, clean: str) -> None:
    assert redact(text)[0] == clean
    assert redact(text, MAY_STAND)[0] == clean


@pytest.mark.parametrize(("text", "clean"), ADDRESSES)
def test_addresses_stay_unless_the_policy_removes_them(text: str, clean: str) -> None:
    assert redact(text)[0] == text
    assert redact(text, frozenset())[0] == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("text 07700 900123 when you land", "text [PHONE] when you land"),
        ("the clinic, 0161 496 0000", "the clinic, [PHONE]"),
        ("mon numéro: 06 12 34 56 78", "mon numéro: [PHONE]"),
        ("my number is 415 555 2671", "my number is [PHONE]"),
        ("order 07700 900123 is late", "order 07700 900123 is late"),
        ("the build took 415 555 2671 ms", "the build took 415 555 2671 ms"),
    ],
)
def test_a_telephone_number_is_detected_by_its_national_form_or_a_label(text: str, clean: str) -> None:
    assert redact(text, frozenset())[0] == clean


@pytest.mark.parametrize(
    "text",
    [
        "sq0csp-ABCDEFGHIJK_LMNOPQRSTUVWXYZ-0123456789abcdef",
        "AccountKey=" + "aB3" * 29 + "=",
        "0123456789abcdef0123456789abcdef-us12",
    ],
)
def test_key_formats_of_public_collections_are_found(text: str) -> None:
    assert {hit.group for hit in find_secrets(f"take {text} please")} == {"credential"}


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2pX1 me@laptop",
        "internationalisation and antidisestablishmentarianism",
    ],
)
def test_a_public_key_and_a_long_word_are_no_secret(text: str) -> None:
    assert not [hit for hit in find_secrets(text) if hit.group == "credential"]


@pytest.mark.parametrize("text", ["the wifi password is plum-4", "我的登录密码是 7788", "wifi密码是plum-4"])
def test_a_short_password_in_a_sentence_is_found(text: str) -> None:
    assert "[SECRET]" in redact(text)[0]


@pytest.mark.parametrize("text", ["the password is covid-19 related", "the pass is JIRA-123", "my password is top-10"])
def test_a_ticket_or_a_rank_is_no_password(text: str) -> None:
    assert redact(text)[0] == text


def test_policy_selects_what_is_kept_and_refused() -> None:
    policy = PersonalDataPolicy(phone="redact", email="refuse")
    assert policy.kinds_kept == {"address"}
    assert policy.kinds_refused == {"email"}
    assert PersonalDataPolicy().kinds_kept == MAY_STAND
