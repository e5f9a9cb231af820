"""The parts of a question that are searched separately: interrogative sentences and list items."""

import pytest

from services.compose.rules.planning.questions import MOST_PARTS, list_things, split_question


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "What about Rex, the lease, my piano teacher, and the blue car?",
            ["What about Rex", "the lease", "my piano teacher", "the blue car?"],
        ),
        ("雷克斯、租约、钢琴老师和体检怎么样了？", ["雷克斯", "租约", "钢琴老师", "体检怎么样了？"]),
        (
            "It rained. My dad has an operation in March. Where will it be?",
            ["My dad has an operation in March. Where will it be?"],
        ),
        ("最近好忙。我把车送去修了。请问它什么时候能修好？", ["我把车送去修了。 请问它什么时候能修好？"]),
        ("我的钢琴老师、租约、体检", ["我的钢琴老师", "租约", "体检"]),
        ("camping trip; the adoption agency; pottery", ["camping trip", "the adoption agency", "pottery"]),
        (
            "I hope you slept well. It rained all day here. When is dad's operation?",
            ["When is dad's operation?"],
        ),
        ("最近天天加班，累死了。周末还下雨。我爸的手术是几号？", ["我爸的手术是几号？"]),
        ("My week was long. Please remind me what my dentist said.", ["Please remind me what my dentist said."]),
        ("Where do I live? What is my dog called?", ["Where do I live?", "What is my dog called?"]),
        (
            "When is dad's operation, where did I park, and what's the dog called?",
            ["When is dad's operation", "where did I park", "and what's the dog called?"],
        ),
        ("我爸的手术是几号，租约什么时候到期", ["我爸的手术是几号", "租约什么时候到期"]),
        ("旺财，租约，钢琴老师，体检怎么样了？", ["旺财", "租约", "钢琴老师", "体检怎么样了？"]),
        ("我住哪儿？我的狗叫什么？", ["我住哪儿？", "我的狗叫什么？"]),
    ],
)
def test_each_part_is_searched_separately(text: str, parts: list[str]) -> None:
    assert [part.text for part in split_question(text)] == parts


@pytest.mark.parametrize(
    "text",
    [
        "What did Melanie and her family do while camping?",
        "When I was in Lisbon, with Rex, what did I eat?",
        "What activity did John's colleague, Rob, invite him to?",
        "As mentioned on November 6, 2023, what was Tim's huge writing issue?",
        "Would Caroline likely have Dr. Seuss books on her bookshelf?",
        "What J. K. Rowling quote does Tim like?",
        "2025年3月，我与同事郑文博在午休时闲聊，他提到了什么烦恼？",
        "我和小王去哪儿了？",
        "我很累，他也累，都想回家，什么时候走？",
        "I moved to Lyon. The flat is small.",
        "9月份我去了一家新开的餐厅。这家餐厅叫什么名字？",
        "I bought apples, oranges, and pears.",
        "我买了苹果、橘子和梨。",
        "blue car",
        "Marta harbour 港口 膝盖 knee",
        "",
    ],
)
def test_a_simple_question_has_no_parts(text: str) -> None:
    assert split_question(text) == ()


def test_a_long_list_has_a_limited_number_of_parts() -> None:
    assert len(split_question("; ".join(f"thing{n}" for n in range(40)))) == MOST_PARTS


def test_clauses_are_no_list_items() -> None:
    assert not list_things("I packed, the neighbour's old dog barked at the postman all night long, and we left")
