"""`smartbrain rebuild` beside a running system: the log alone reproduces the memories while services run."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process

from services.cli.rebuild.run import rebuild
from shared.domain.subjects import Subject
from tests.long import often
from tests.system.load import Load
from tests.system.person import Person
from tests.system.wait import wait_for

SCRATCH = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'smart\\_brain\\_rebuild\\_%%'"
SAID = (
    ("s1", "我喜欢喝龙井茶，我住在杭州。"),
    ("s1", "I like jazz, and I work at Initech."),
    ("s2", "不是龙井，我现在喜欢喝碧螺春。"),
    ("s2", "I no longer like jazz."),
    ("s2", "我搬到苏州了，不住杭州了。"),
    ("s1", "I left Initech, I work at Globex now."),
    ("s1", "请记住：停车位是 B2-117。"),
    ("s2", "Remember that the spare key is with Marta."),
)


async def begin(person: Person) -> Process:
    """The command, started for the user."""
    asked = (sys.executable, "-m", "services.cli", "rebuild", "-u", person.user_id, "--tenant", person.tenant_id)
    # background jobs of a shell ignore Ctrl-C, and so would a child of one
    return await asyncio.create_subprocess_exec(
        *asked,
        env={**os.environ, "SMARTBRAIN_DATABASE_URL": person.system.dsn},
        stdout=PIPE,
        stderr=PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # nothing else runs here
    )


async def say_all(person: Person, times: int = 1) -> None:
    """The user's statements, committed and settled."""
    for n in range(times):
        for session, text in SAID:
            await person.commit(text, session=f"{session}-{n}")
    await person.system.settled()


async def test_the_log_alone_reproduces_the_memories_while_services_run(person: Person) -> None:
    await say_all(person)
    rt, subject = person.system["compose"].rt, Subject(person.tenant_id, person.user_id)
    load = Load(person.system.http, users=2)
    await load.reach(20)
    report = await rebuild(person.system.dsn, rt.settings, rt.policy, subject, apply=False, say=lambda *_: None)
    await load.reach(20)
    await load.stop()
    await person.system.settled()
    assert (report.turns, [*report.differences], report.open_turns) == (len(SAID), [], 0)
    versions = person.number("SELECT count(*) FROM memory_items WHERE user_id = %(u)s")
    assert report.memories == versions > len(SAID)


async def test_ctrl_c_leaves_nothing_behind(person: Person) -> None:
    await say_all(person, often(12, short=6))
    interrupted = await begin(person)
    await wait_for(lambda: person.system.number(SCRATCH), "the scratch schema stands")
    interrupted.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(interrupted.wait(), 60) != 0
    assert person.system.number(SCRATCH) == 0
    killed = await begin(person)
    await wait_for(lambda: person.system.number(SCRATCH), "the scratch schema stands")
    killed.kill()
    await killed.wait()
    assert person.system.number(SCRATCH) == 1
    again = await begin(person)
    out, err = await again.communicate()
    assert (again.returncode, "no difference" in out.decode()) == (0, True), out + err
    assert person.system.number(SCRATCH) == 0
