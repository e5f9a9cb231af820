"""Who is let in: how long a key may be remembered, and whose tokens are taken beside keys."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from schemas.vocabulary import AccessScope
from shared.policy.base import Slice

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class TokenIssuer(Slice):
    """An issuer whose tokens (OpenID Connect, JWT) are taken, and what their claims mean.

    A claim within another is named with a dot, as in `realm_access.roles`. A token without the claims that are named
    here is refused.
    """

    issuer: str = Field(min_length=1, description="What the claim `iss` must say")
    audience: str = Field(min_length=1, description="What the claim `aud` must say or hold")
    jwks: str = Field(min_length=1, description="Where its public keys are: an https address, or a file")
    algorithms: tuple[Literal["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"], ...] = Field(
        default=("RS256", "ES256"), min_length=1, description="Signatures that are taken; none rests on a shared secret"
    )
    tenant: str = Field(default="", description="The tenant of all its tokens; empty: `tenant_claim` says it")
    tenant_claim: str = Field(default="", description="The claim that names the tenant")
    user_claim: str = Field(
        default="sub", description="The claim that names the user; empty: a token is for every user of its tenant"
    )
    scopes_claim: str = Field(
        default="scope", description="The claim that lists what may be done: words with spaces between, or a list"
    )
    scopes: dict[str, AccessScope] = Field(
        default_factory=dict[str, AccessScope],
        description="What its words mean, such as `{memory.read: read}`; none: our own words",
    )
    leeway_s: float = Field(default=30.0, ge=0, le=300, description="How far its clock may be from ours")
    keys_s: float = Field(
        default=300.0, gt=0, description="How long its public keys are used before they are read again"
    )

    @model_validator(mode="after")
    def _can_be_checked(self) -> Self:
        if bool(self.tenant) == bool(self.tenant_claim):
            raise ValueError("give one of tenant and tenant_claim")
        where = urlsplit(self.jwks)
        if where.scheme == "http" and where.hostname not in LOOPBACK:
            raise ValueError("jwks: whoever is on the way could change keys that come by http; give an https address")
        return self


class SignInPolicy(Slice):
    """How people sign in to the console with an issuer: authorization code with PKCE.

    The issuer knows the console under `client_id`, and its address `/sign-in/back` as the one to come back to. Its
    secret, if it has one, is the setting `SMARTBRAIN_CONSOLE_CLIENT_SECRET`.
    """

    issuer: str = Field(default="", description="Name of one of `access.issuers`; empty: people sign in by key alone")
    client_id: str = Field(default="", description="The console's name with the issuer")
    authorize: str = Field(default="", description="The issuer's authorization endpoint, to which the browser is led")
    token: str = Field(default="", description="The issuer's token endpoint, which the console asks")
    scopes: tuple[str, ...] = Field(
        default=("openid",), description="What is asked for; `openid`, and what makes the token one for SmartBrain"
    )
    token_used: Literal["access_token", "id_token"] = Field(
        default="access_token",
        description="Which of its tokens compose is asked with, and must take: `id_token` has `client_id` for audience",
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not self.issuer:
            return self
        if not self.client_id:
            raise ValueError("client_id: is missing")
        for name, address in (("authorize", self.authorize), ("token", self.token)):
            where = urlsplit(address)
            if where.scheme != "https" and (where.scheme, where.hostname in LOOPBACK) != ("http", True):
                raise ValueError(f"{name}: give an https address")
        if "openid" not in self.scopes:
            raise ValueError("scopes: openid is missing")
        return self


class AccessPolicy(Slice):
    """Who is let in beside those who hold a key of ours, and how soon a revoked key is refused where no notice came.

    A change of a key is told to every process at once; `key_cache_s` is for one that does not hear it.
    """

    key_cache_s: float = Field(
        default=2.0, ge=0, le=2, description="How long what is known of a key is used before it is read again"
    )
    kafka: Literal["signed", "trusted"] = Field(
        default="signed",
        description="`signed`: a record of a client must be signed with a key, once there is one; `trusted`: one"
        " without a signature is taken as said, and access control lists of Kafka say who may write",
    )
    issuers: dict[str, TokenIssuer] = Field(
        default_factory=dict[str, TokenIssuer], description="Issuers whose tokens are taken, by a name of yours"
    )
    sign_in: SignInPolicy = SignInPolicy()

    @model_validator(mode="after")
    def _knows_who_signs_in(self) -> Self:
        if self.sign_in.issuer and self.sign_in.issuer not in self.issuers:
            raise ValueError(f"sign_in.issuer: {self.sign_in.issuer!r} is none of issuers")
        return self
