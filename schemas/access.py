"""What whoever asks over HTTP may do, as they are told it."""

from schemas.base import Contract
from schemas.vocabulary import AccessScope


class AccessView(Contract):
    """Whom the key or the token is for: a tenant, and one user of it or those whose id begins with `users_from`.

    Without a tenant it is whoever sits at this machine while it needs no key.
    """

    name: str
    tenant_id: str | None = None
    user_id: str | None = None
    users_from: str | None = None
    scopes: tuple[AccessScope, ...] = ()
