"""The guarded doors of a broker under test: SASL over TLS, mutual TLS, users, and an authority made for the run.

Whoever comes by the plain door may do everything; whoever comes by another, what access control lists say.
"""

import json
import os
import secrets
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shared.settings import SERVICES

VARIABLE = "SMARTBRAIN_TEST_KAFKA_SECURE"
"""Names the file that says how the guarded doors are reached."""
USERS = (*(f"smartbrain-{name}" for name in SERVICES), "smartbrain-operator", "smartbrain-client", "smartbrain-alone")
PLAIN_USER = "smartbrain-plain"
CERTIFIED = "smartbrain-certified"
LOGIN = "org.apache.kafka.common.security"
PROPERTIES = f"""
listener.name.sasl.sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER
listener.name.sasl.scram-sha-256.sasl.jaas.config={LOGIN}.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config={LOGIN}.scram.ScramLoginModule required;
listener.name.sasl.plain.sasl.jaas.config={LOGIN}.plain.PlainLoginModule required \\
  user_{PLAIN_USER}="@password@";
listener.name.sasl.oauthbearer.sasl.jaas.config={LOGIN}.oauthbearer.OAuthBearerLoginModule required \\
  unsecuredLoginStringClaim_sub="broker";
listener.name.mutual.ssl.client.auth=required
ssl.keystore.type=PEM
ssl.keystore.location=@folder@/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=@folder@/ca.crt
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
"""


@dataclass(frozen=True)
class Doors:
    """How the guarded doors of a broker are reached."""

    sasl: str
    mutual: str
    folder: str
    passwords: dict[str, str]

    @property
    def ca(self) -> str:
        """The authority that signed all certificates."""
        return f"{self.folder}/ca.crt"

    def settings(self, user: str, mechanism: str = "SCRAM-SHA-512") -> dict[str, Any]:
        """The settings of who comes over SASL and TLS."""
        return {
            "kafka_bootstrap": self.sasl,
            "kafka_security_protocol": "SASL_SSL",
            "kafka_sasl_mechanism": mechanism,
            "kafka_username": user,
            "kafka_password": self.passwords[user],
            "kafka_ca": self.ca,
        }

    def certified(self) -> dict[str, Any]:
        """The settings of who comes with a certificate."""
        return {
            "kafka_bootstrap": self.mutual,
            "kafka_security_protocol": "SSL",
            "kafka_ca": self.ca,
            "kafka_certificate": f"{self.folder}/client.crt",
            "kafka_key": f"{self.folder}/client.key",
        }


def make_doors(folder: Path, sasl: int, mutual: int, openssl: str) -> Doors:
    """Certificates and passwords that nobody else knows stand in the folder."""
    make_authority(folder, openssl)
    make_certificate(folder, "server", openssl)
    make_certificate(folder, "client", openssl, subject=CERTIFIED)
    (folder / "server.pem").write_text((folder / "server.key").read_text() + (folder / "server.crt").read_text())
    passwords = {user: secrets.token_urlsafe(12) for user in (*USERS, PLAIN_USER)}
    doors = Doors(f"127.0.0.1:{sasl}", f"127.0.0.1:{mutual}", str(folder), passwords)
    (folder / "doors.json").write_text(json.dumps(asdict(doors)))
    return doors


def find_doors() -> Doors | None:
    """The guarded doors of the broker of this run, if it has any."""
    path = os.environ.get(VARIABLE)
    return Doors(**json.loads(Path(path).read_text())) if path else None


def properties_of(doors: Doors) -> str:
    """What the broker's settings say of its guarded doors."""
    return PROPERTIES.replace("@folder@", doors.folder).replace("@password@", doors.passwords[PLAIN_USER])


def list_scram(doors: Doors) -> list[str]:
    """The arguments by which a fresh storage knows the users."""
    return [
        argument
        for user in USERS
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        for argument in ("--add-scram", f"{mechanism}=[name={user},password={doors.passwords[user]}]")
    ]


def make_authority(folder: Path, openssl: str) -> None:
    """`ca.crt` and its key."""
    names = ["-subj", "/CN=authority of a test", "-keyout", "ca.key", "-out", "ca.crt"]
    _run(folder, openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names)


def make_certificate(folder: Path, name: str, openssl: str, subject: str = "localhost") -> None:
    """`name.crt` and `name.key`, for this machine and signed by the authority."""
    request = ["-subj", f"/CN={subject}", "-keyout", f"{name}.key", "-out", f"{name}.csr"]
    _run(folder, openssl, "req", "-newkey", "rsa:2048", "-nodes", *request)
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    _run(folder, openssl, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", *signed)


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
