"""An opinion of the user is stored and shown as such; a plan or an uncertain fact is not."""

import pytest

from tests.system.person import Person

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(
    ("said", "asked", "epistemic"),
    [
        ("I think Kubernetes is overkill for our project.", "What do I think of Kubernetes?", "opinion"),
        ("Remember that in my opinion the new office is too loud.", "What do I think of the new office?", "opinion"),
        ("记住我觉得这家公司的管理太乱。", "我觉得公司的管理怎么样？", "opinion"),
        ("在我看来孩子上国际学校没必要。", "孩子上国际学校的事我怎么看？", "opinion"),
        ("I think the meeting with Dana is on Friday.", "When is the meeting with Dana?", "fact"),
        ("我觉得护照六月到期。", "我的护照什么时候到期？", "fact"),
    ],
)
async def test_a_package_marks_an_opinion(person: Person, said: str, asked: str, epistemic: str) -> None:
    await person.say(said, session="first")
    (memory,) = await person.memories()
    assert memory["epistemic_type"] == epistemic
    package = await person.compose(asked, session="later")
    shown = [block.text for block in package.system_blocks if block.source.memory_item_id]
    shown += [each.snippet for each in package.evidence]
    (carried,) = [text for text in shown if memory["content"] in text]
    assert ('epistemic_type="opinion"' in carried) == (epistemic == "opinion")
