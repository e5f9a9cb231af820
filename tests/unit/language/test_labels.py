"""A number can distinguish two things of a kind; a changed number belongs to one thing."""

import pytest

from shared.language.names import are_apart

TWO = [
    ("出差第8次住在杭州的全季酒店", "出差第9次住在南京的亚朵酒店。"),
    ("第八次出差住在全季", "第九次出差现在住在亚朵"),
    ("我的第一台车是丰田", "我的第二台车是本田"),
    ("发票1042寄给了阿里", "发票1043寄给了腾讯。"),
    ("工单311是登录问题", "工单312现在是支付问题。"),
    ("房间302有投影仪", "房间305没有投影仪"),
    ("三号线很挤", "四号线不挤"),
    ("Room 12 is where the printer stands", "Room 14 is where the printer stands."),
    ("On trip 3 I stayed in Lyon", "On trip 4 I stayed in Nice."),
    ("My first car was a Toyota", "My second car was a Honda"),
    ("I ran 5 km in week 1", "I ran 7 km in week 2"),
    ("Invoice 1042 went to Acme", "Invoice 1043 did not go to Acme."),
    ("Ticket 311 is open", "Ticket 312 is now closed."),
    ("JIRA-311 is about login", "JIRA-312 is about billing."),
]
ONE = [
    ("出差第8次住在全季", "不是第8次，是第9次。"),
    ("会议在301会议室", "会议改到302会议室了。"),
    ("我的房间号是302", "房间号不是302，是305。"),
    ("我今年30岁", "我今年31岁了。"),
    ("我有2只猫", "我现在有3只猫了。"),
    ("The standup is in room 12", "The standup moved to room 14."),
    ("Our flight leaves from gate 12", "It leaves from gate 14 now."),
    ("My seat is row 12", "Correction: row 14."),
    ("Invoice 7 is for 300 euros", "No, invoice 7 is for 350 euros."),
    ("The meeting is at 3", "The meeting is at 4, not 3."),
    ("I have 2 cats", "I have 3 cats now."),
]


@pytest.mark.parametrize(("known", "said"), TWO)
def test_numbered_things_are_different(known: str, said: str) -> None:
    assert are_apart(known, said)
    assert not are_apart(known, known)


@pytest.mark.parametrize(("known", "said"), ONE)
def test_a_changed_number_belongs_to_one_thing(known: str, said: str) -> None:
    assert not are_apart(known, said)
