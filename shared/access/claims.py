"""Maps the claims of a token to a requester, as the policy defines."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from schemas.base import ExternalId
from schemas.vocabulary import AccessScope
from shared.access.refusals import refuse_stranger
from shared.domain.subjects import SCOPES, Requester
from shared.policy import TokenIssuer

_ID: TypeAdapter[str] = TypeAdapter(ExternalId)


def read_claims(claims: Mapping[str, Any], issuer: TokenIssuer) -> Requester:
    """The holder of the token with scopes; RefusedError names a missing or invalid claim."""
    tenant_id = issuer.tenant or _read_id(claims, issuer.tenant_claim)
    user_id = _read_id(claims, issuer.user_claim) if issuer.user_claim else None
    name = user_id if user_id is not None else f"token:{_read_id(claims, 'sub')}"[:128]
    return Requester(name, _read_scopes(claims, issuer), tenant_id, user_id)


def _read_id(claims: Mapping[str, Any], name: str) -> str:
    try:
        return _ID.validate_python(find_claim(claims, name), strict=True)
    except ValidationError as error:
        raise refuse_stranger(f"the claim {name} of the token is missing or not an id") from error


def _read_scopes(claims: Mapping[str, Any], issuer: TokenIssuer) -> frozenset[AccessScope]:
    said = find_claim(claims, issuer.scopes_claim)
    words = said.split() if isinstance(said, str) else cast("list[Any]", said) if isinstance(said, list) else []
    meanings = issuer.scopes or {each: each for each in SCOPES}
    return frozenset(meanings[word] for word in words if isinstance(word, str) and word in meanings)


def find_claim(claims: Mapping[str, Any], name: str) -> Any:
    """The value of a claim, which may be nested; None if it is missing."""
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return find_claim(cast("Mapping[str, Any]", inner), rest) if rest and isinstance(inner, dict) else None
