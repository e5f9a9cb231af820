"""A console with sign-in by an issuer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.system.console import serving_console
from tests.system.databases import Databases
from tests.system.issuer import AUDIENCE, Issuer, SignInServer
from tests.system.running import listening, policy_file, running, settings_for
from tests.system.serving import serving

SECRET = "a secret of the console"  # only for tests


@dataclass(frozen=True)
class Door:
    """The console, and the issuer of its sign-in."""

    url: str
    server: SignInServer

    def renew(self) -> None:
        """Resets the issuer."""
        fresh = SignInServer(self.server.issuer)
        self.server.access, self.server.identity = fresh.access, fresh.identity
        self.server.codes.clear()
        self.server.redeemed.clear()


@asynccontextmanager
async def opening_door(databases: Databases, kafka: str, folder: Path) -> AsyncGenerator[Door]:
    """Compose that accepts tokens of the issuer, and a console that is registered there."""
    server = SignInServer(Issuer(folder / "jwks.json"), secret=SECRET)
    server.issuer.add_key("first")
    async with serving(server.app) as url:
        server.issuer.url = url
        staff = {"issuer": url, "audience": AUDIENCE, "jwks": f"{url}/jwks", "tenant_claim": "org"}
        sign_in = {"issuer": "staff", "client_id": "console", "authorize": f"{url}/authorize", "token": f"{url}/token"}
        policy = policy_file(folder, access={"issuers": {"staff": staff}, "sign_in": sign_in})
        async with (
            running(settings_for(databases.fresh(), kafka, policy=policy), ("compose",)) as system,
            listening(system) as compose_url,
            serving_console(compose_url, policy=policy, console_client_secret=SECRET) as console,
        ):
            yield Door(console, server)
