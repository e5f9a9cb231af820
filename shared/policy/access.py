"""Access: caching of keys, issuers of tokens, and the capacity of a process for a key, a user and all together."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from schemas.vocabulary import AccessScope
from shared.policy.base import Slice

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class TokenIssuer(Slice):
    """An issuer whose tokens (OpenID Connect, JWT) are accepted, and the meaning of their claims.

    A nested claim is named with a dot, as in `realm_access.roles`. A token without the claims named here is refused.
    """

    issuer: str = Field(min_length=1, description="Required value of the claim `iss`")
    audience: str = Field(min_length=1, description="Required value of the claim `aud`, or one of its values")
    jwks: str = Field(min_length=1, description="Location of its public keys: an https address, or a file")
    algorithms: tuple[Literal["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"], ...] = Field(
        default=("RS256", "ES256"), min_length=1, description="Accepted signature algorithms; none uses a shared secret"
    )
    tenant: str = Field(default="", description="The tenant of all its tokens; empty: `tenant_claim` names it")
    tenant_claim: str = Field(default="", description="The claim that names the tenant")
    user_claim: str = Field(
        default="sub", description="The claim that names the user; empty: a token is valid for every user of its tenant"
    )
    scopes_claim: str = Field(
        default="scope", description="The claim with the permissions: words separated by spaces, or a list"
    )
    scopes: dict[str, AccessScope] = Field(
        default_factory=dict[str, AccessScope],
        description="Mapping of its words to scopes, such as `{memory.read: read}`; none: SmartBrain's own names",
    )
    leeway_s: float = Field(default=30.0, ge=0, le=300, description="Allowed difference between its clock and ours")
    keys_s: float = Field(default=300.0, gt=0, description="How long its public keys are cached")

    @model_validator(mode="after")
    def _can_be_checked(self) -> Self:
        if bool(self.tenant) == bool(self.tenant_claim):
            raise ValueError("give one of tenant and tenant_claim")
        where = urlsplit(self.jwks)
        if where.scheme == "http" and where.hostname not in LOOPBACK:
            raise ValueError("jwks: keys sent over http can be altered in transit; give an https address")
        return self


class SignInPolicy(Slice):
    """How people sign in to the console with an issuer: authorization code with PKCE.

    Register the console at the issuer as `client_id`, with its address `/sign-in/back` as redirect URI. Its client
    secret, if any, is the setting `SMARTBRAIN_CONSOLE_CLIENT_SECRET`.
    """

    issuer: str = Field(default="", description="Name of one of `access.issuers`; empty: people sign in only with keys")
    client_id: str = Field(default="", description="Client id of the console at the issuer")
    authorize: str = Field(default="", description="Authorization endpoint of the issuer, for the browser")
    token: str = Field(default="", description="Token endpoint of the issuer, for the console")
    scopes: tuple[str, ...] = Field(
        default=("openid",), description="Requested scopes: `openid`, and those that give the token its audience"
    )
    token_used: Literal["access_token", "id_token"] = Field(
        default="access_token",
        description="Which token the console sends to compose; the audience of an `id_token` is `client_id`",
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
    """Issuers that are accepted besides keys, and how soon a revoked key is refused without a notification.

    Every process is notified of a changed key; `key_cache_s` covers a process that misses the notification.
    """

    key_cache_s: float = Field(default=2.0, ge=0, le=2, description="How long a key is cached")
    kafka: Literal["signed", "trusted"] = Field(
        default="signed",
        description="`signed`: a record of a client must be signed with a key, once there is one; `trusted`: "
        "records without a signature are accepted, and only access control lists of Kafka restrict "
        "who may write",
    )
    issuers: dict[str, TokenIssuer] = Field(
        default_factory=dict[str, TokenIssuer], description="Accepted issuers, by a name of your choice"
    )
    sign_in: SignInPolicy = SignInPolicy()

    @model_validator(mode="after")
    def _knows_who_signs_in(self) -> Self:
        if self.sign_in.issuer and self.sign_in.issuer not in self.issuers:
            raise ValueError(f"sign_in.issuer: {self.sign_in.issuer!r} is none of issuers")
        return self


class LimitsPolicy(Slice):
    """Limits of HTTP requests; 0 is no limit, and every process counts separately.

    While no key is required, only `requests_at_once` and `request_s` apply. The limits of bodies and headers are fixed
    (`ConnectionLimits`, `MAX_BODY_BYTES`).
    """

    key_per_s: float = Field(default=200.0, ge=0, description="Sustained requests per second with one key")
    key_burst: int = Field(default=1000, ge=1, description="Burst of requests with one key")
    key_at_once: int = Field(default=64, ge=0, description="Concurrent requests with one key")
    user_per_s: float = Field(
        default=50.0, ge=0, description="Sustained requests per second about one user, with any key"
    )
    user_burst: int = Field(default=500, ge=1, description="Burst of requests about one user")
    requests_at_once: int = Field(default=512, ge=0, description="Concurrent requests in total")
    request_s: float = Field(
        default=60.0, ge=0, description="Maximum time of a request before it fails with 503 `timeout`"
    )
