"""A broker that lets nobody do anything without being told so, with every way to log in."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from support.servers.secure_broker import SecureBroker
from support.servers.tokens import Tokens

SECURITY = "org.apache.kafka.common.security"
PLAIN_PASSWORD = 'pl"ain; secret'
SCRAM_PASSWORD = "scram secret"
ASKER = "asker"  # a second user, who logs in with SCRAM-SHA-256 and the same password
OFFSETS_TOPIC = "__consumer_offsets"

Rule = tuple[str, str, str]  # operation, kind of resource, its name, * for all or prefix*


def properties(keys: Path) -> dict[str, str]:
    listener = "listener.name.sasl_ssl"
    plain = PLAIN_PASSWORD.replace('"', '\\\\"')  # once for properties, once for JAAS
    return {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        f"{listener}.plain.sasl.jaas.config": (
            f'{SECURITY}.plain.PlainLoginModule required user_{SecureBroker.user}="{plain}";'
        ),
        f"{listener}.scram-sha-256.sasl.jaas.config": (
            f"{SECURITY}.scram.ScramLoginModule required;"
        ),
        f"{listener}.oauthbearer.sasl.jaas.config": (
            f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required;"
        ),
        f"{listener}.oauthbearer.sasl.server.callback.handler.class": (
            f"{SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler"
        ),
        f"{listener}.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",  # whoever comes by the plain listener
    }


@contextmanager
def guarded_broker(directory: Path, tokens: Tokens) -> Iterator[SecureBroker]:
    keys = directory / "keys.json"
    tokens.write_keys(keys)
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys.as_uri()}"
    with SecureBroker(
        offsets_partitions=2, properties=properties(keys), java_options=[allowed]
    ) as broker:
        _add_scram_users(broker)
        yield broker


def _add_scram_users(broker: SecureBroker) -> None:
    kind = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    users = [
        UserScramCredentialUpsertion(name, kind, SCRAM_PASSWORD.encode())
        for name in (broker.user, ASKER)
    ]
    admin = plain_admin(broker)
    for done in admin.alter_user_scram_credentials(users).values():
        done.result(30)


def plain_admin(broker: SecureBroker) -> AdminClient:
    """Keep it until its answers are there."""
    return AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})


def allow(broker: SecureBroker, rules: Iterable[Rule], user: str = SecureBroker.user) -> None:
    bindings = [_binding(user, rule) for rule in rules]
    admin = plain_admin(broker)
    for done in admin.create_acls(bindings).values():
        done.result(30)


def take_away(broker: SecureBroker, rule: Rule, user: str = SecureBroker.user) -> None:
    exact = _binding(user, rule)
    only = AclBindingFilter(
        exact.restype,
        exact.name,
        exact.resource_pattern_type,
        exact.principal,
        exact.host,
        exact.operation,
        exact.permission_type,
    )
    admin = plain_admin(broker)
    for done in admin.delete_acls([only]).values():
        assert len(done.result(30)) == 1


def _binding(user: str, rule: Rule) -> AclBinding:
    operation, kind, name = rule
    is_prefix = name.endswith("*") and name != "*"
    return AclBinding(
        ResourceType[kind.upper()],
        name.removesuffix("*") if is_prefix else name,
        ResourcePatternType.PREFIXED if is_prefix else ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        AclOperation[operation.upper()],
        AclPermissionType.ALLOW,
    )
