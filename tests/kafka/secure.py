"""The secured listeners of a broker under test: SASL over TLS, mutual TLS, users, and a temporary authority.

Clients of the plain listener may do everything; others only what access control lists permit.
"""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from shared.settings import SERVICES

VARIABLE = "SMARTBRAIN_TEST_KAFKA_SECURE"
"""Names the file that describes the secured listeners."""
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
    """The addresses and credentials of a broker's secured listeners."""

    sasl: str
    mutual: str
    folder: str
    passwords: dict[str, str]

    @property
    def ca(self) -> str:
        """The authority that signed all certificates."""
        return f"{self.folder}/ca.crt"

    def settings(self, user: str, mechanism: str = "SCRAM-SHA-512") -> dict[str, Any]:
        """The settings of a client with SASL and TLS."""
        return {
            "kafka_bootstrap": self.sasl,
            "kafka_security_protocol": "SASL_SSL",
            "kafka_sasl_mechanism": mechanism,
            "kafka_username": user,
            "kafka_password": self.passwords[user],
            "kafka_ca": self.ca,
        }

    def certified(self) -> dict[str, Any]:
        """The settings of a client with a certificate."""
        return {
            "kafka_bootstrap": self.mutual,
            "kafka_security_protocol": "SSL",
            "kafka_ca": self.ca,
            "kafka_certificate": f"{self.folder}/client.crt",
            "kafka_key": f"{self.folder}/client.key",
        }


def make_doors(folder: Path, sasl: int, mutual: int) -> Doors:
    """Creates certificates and random passwords in the folder."""
    make_authority(folder)
    make_certificate(folder, "server")
    make_certificate(folder, "client", subject=CERTIFIED)
    (folder / "server.pem").write_text((folder / "server.key").read_text() + (folder / "server.crt").read_text())
    passwords = {user: secrets.token_urlsafe(12) for user in (*USERS, PLAIN_USER)}
    doors = Doors(f"127.0.0.1:{sasl}", f"127.0.0.1:{mutual}", str(folder), passwords)
    (folder / "doors.json").write_text(json.dumps(asdict(doors)))
    return doors


def find_doors() -> Doors | None:
    """The secured listeners of this run's broker, if any."""
    path = os.environ.get(VARIABLE)
    return Doors(**json.loads(Path(path).read_text())) if path else None


def properties_of(doors: Doors) -> str:
    """The broker's settings for its secured listeners."""
    return PROPERTIES.replace("@folder@", doors.folder).replace("@password@", doors.passwords[PLAIN_USER])


def list_scram(doors: Doors) -> list[str]:
    """The arguments that create the users in new storage."""
    return [
        argument
        for user in USERS
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        for argument in ("--add-scram", f"{mechanism}=[name={user},password={doors.passwords[user]}]")
    ]


def make_authority(folder: Path) -> None:
    """`ca.crt` and its key."""
    key, name = _make_key(folder, "ca"), _name("authority of a test")
    usage = x509.BasicConstraints(ca=True, path_length=0)
    _write(folder, "ca", _describe(name, name, key).add_extension(usage, critical=True).sign(key, hashes.SHA256()))


def make_certificate(folder: Path, name: str, subject: str = "localhost") -> None:
    """`name.crt` and `name.key`, for this machine and signed by the authority."""
    authority = x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())
    signer = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
    assert isinstance(signer, rsa.RSAPrivateKey)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    made = _describe(_name(subject), authority.subject, _make_key(folder, name))
    made = made.add_extension(names, critical=False).add_extension(by, critical=False)
    _write(folder, name, made.sign(signer, hashes.SHA256()))


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _make_key(folder: Path, name: str) -> rsa.RSAPrivateKey:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (folder / f"{name}.key").write_bytes(pem)
    return key


def _describe(subject: x509.Name, issuer: x509.Name, key: rsa.RSAPrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    lasting = made.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=2))
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return lasting.serial_number(x509.random_serial_number()).add_extension(identifier, critical=False)


def _write(folder: Path, name: str, certificate: x509.Certificate) -> None:
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
