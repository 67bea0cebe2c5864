"""What is refused, and the line it gets: section, key, the bad value and what is allowed."""

from pathlib import Path

from support.config_files import MINIMAL, load_text, problems_of

HOST_PORT = "must be host:port, the port from 1 to 65535"
# By the lines they get; the text is added to a configuration that is fine.
REFUSED = {
    "storage.s.intervals: 0 is not allowed; must be a whole number, at least 1": """
        [storage.s]
        class-name = "inmemory"
        intervals = 0""",
    "storage.s.workers: 0 is not allowed; must be a whole number, at least 1": """
        [storage.s]
        class-name = "inmemory"
        workers = 0""",
    "cluster.c.offset-refresh: 0 is not allowed; must be a whole number, at least 1": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:1"]
        offset-refresh = 0""",
    "cluster.c.topic-refresh: -1 is not allowed; must be a whole number, at least 1": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:1"]
        topic-refresh = -1""",
    "storage: has the sections a, b; must have only one": """
        [storage.a]
        class-name = "inmemory"
        [storage.b]
        class-name = "inmemory\"""",
    "evaluator: has the sections a, b; must have only one": """
        [evaluator.a]
        class-name = "caching"
        [evaluator.b]
        class-name = "caching\"""",
    'cluster.c.class-name: "zk" is not allowed; must be kafka': """
        [cluster.c]
        class-name = "zk"
        servers = ["h:1"]""",
    "consumer.c.zookeeper-path: missing; must be the zkRoot of Storm's spouts, such as /storm": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:9092"]
        [consumer.c]
        class-name = "storm"
        cluster = "c"
        servers = ["zk:2181"]
    """,
    "consumer.c.locations: is empty; must name directories with checkpoints": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:9092"]
        [consumer.c]
        class-name = "spark_checkpoint"
        cluster = "c"
        locations = []
    """,
    'consumer.c.group: "{query}" is not allowed: there is no {query}; '
    "must be a text with {name}, {parent} or {id} in it": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:9092"]
        [consumer.c]
        class-name = "spark_checkpoint"
        cluster = "c"
        locations = ["/checkpoints"]
        group = "{query}"
    """,
    'consumer.c.group: "all" is not allowed: all checkpoints would be one group; '
    "must be a text with {name}, {parent} or {id} in it": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:9092"]
        [consumer.c]
        class-name = "spark_checkpoint"
        cluster = "c"
        locations = ["/checkpoints"]
        group = "all"
    """,
    'consumer.c.class-name: "KAFKA" is not allowed; '
    "must be one of kafka, kafka_admin, kafka_zk, storm, spark_checkpoint, http": """
        [consumer.c]
        class-name = "KAFKA"
        cluster = "local"
        servers = ["h:1"]""",
    "storage.s.class-name: missing; must be inmemory": "[storage.s]",
    'evaluator.e.class-name: "x" is not allowed; must be one of caching, warren': """
        [evaluator.e]
        class-name = "x\"""",
    "cluster.servers: is outside a section; must be in [cluster.NAME]": """
        [cluster]
        servers = ["h:1"]""",
    'consumer.c.cluster: "prod" names no cluster section; must be one of: local': """
        [consumer.c]
        class-name = "kafka"
        cluster = "Prod"
        servers = ["h:1"]""",
    "consumer.c.cluster: missing; must be the name of a section": """
        [consumer.c]
        class-name = "kafka"
        servers = ["h:1"]""",
    f"cluster.c.servers: missing; must be a list, each {HOST_PORT[8:]}": """
        [cluster.c]
        class-name = "kafka\"""",
    "cluster.c.servers: is empty; must name at least one server": """
        [cluster.c]
        class-name = "kafka"
        servers = []""",
    f'cluster.c.servers: "h" is not allowed: the port is missing; {HOST_PORT}': """
        [cluster.c]
        class-name = "kafka"
        servers = ["good:1", "h"]""",
    'cluster.c.servers: "h:65536" is not allowed: port 65536 is out of range, 1 to 65535; '
    + HOST_PORT: """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:65536"]""",
    'cluster.c.servers: "a:1,b:2" is not allowed: it is more than one; '
    "write a list, or separate them by spaces; " + HOST_PORT: """
        [cluster.c]
        class-name = "kafka"
        servers = "a:1,b:2\"""",
    f'cluster.c.servers: "PLAINTEXT://b:9092" is not allowed: '
    f"write host:port, without PLAINTEXT://; {HOST_PORT}": """
        [cluster.c]
        class-name = "kafka"
        servers = ["PLAINTEXT://b:9092"]""",
    'httpserver.h.address: ":1, :2" is not allowed: it is more than one; '
    "must be host:port or :port, the port up to 65535": """
        [httpserver.h]
        address = ":1, :2\"""",
    'cluster.c.client-profile: "p" names no client-profile section; must be one of: '
    "none, as there is no [client-profile.NAME] section": """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:1"]
        client-profile = "p\"""",
    'consumer.c.group-allowlist: "(" is not allowed: missing ): (; '
    "must be a regular expression in RE2's dialect": """
        [consumer.c]
        class-name = "kafka"
        cluster = "local"
        servers = ["h:1"]
        group-allowlist = "(\"""",
    'consumer.c.isolation-level: "none" is not allowed; '
    "must be one of read-committed, read-uncommitted": """
        [consumer.c]
        class-name = "kafka"
        cluster = "local"
        servers = ["h:1"]
        isolation-level = "none\"""",
    'consumer.c.zookeeper-path: "/" is not allowed: not a ZooKeeper path; '
    "must be empty, or a path such as /kafka without a slash at its end": """
        [consumer.c]
        class-name = "kafka_zk"
        cluster = "local"
        servers = ["h:1"]
        zookeeper-path = "/\"""",
    "httpserver.h.address: 8000 is not allowed: the port is missing; "
    "must be host:port or :port, the port up to 65535": """
        [httpserver.h]
        address = 8000""",
    "httpserver.h.address: missing; must be host:port or :port, the port up to 65535": """
        [httpserver.h]""",
    'httpserver.h.tls: "t" cannot be used here: [tls.t] has no certfile and no keyfile': """
        [httpserver.h]
        address = ":0"
        tls = "t\"""",
    "evaluator.e.minimum-complete: 20 is not allowed; must be a number, at most 1": """
        [evaluator.e]
        class-name = "caching"
        minimum-complete = 20""",
    "evaluator.e.allowed-lag: -1 is not allowed; must be a whole number, at least 0": """
        [evaluator.e]
        class-name = "caching"
        allowed-lag = -1""",
}
PROFILE = """
        [cluster.c]
        class-name = "kafka"
        servers = ["h:1"]
        client-profile = "p"
        [client-profile.p]
"""
REFUSED_PROFILES = {
    'client-profile.p.kafka-version: "foo" is not allowed: not a Kafka version; '
    "must be a version such as 2.8.0, or 0.10.2.0 for those before 1.0": 'kafka-version = "foo"',
    "client-profile.p.dial-timeout: 0 is not allowed; must be a whole number, at least 1": (
        "dial-timeout = 0"
    ),
    'client-profile.p.sasl: "s" names no sasl section; must be one of: '
    "none, as there is no [sasl.NAME] section": 'sasl = "s"',
    'sasl.s.mechanism: "GSSAPI" is not allowed; '
    'must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, ""': """
        sasl = "s"
        [sasl.s]
        username = "u"
        password = "p"
        mechanism = "GSSAPI\"""",
    "sasl.s.username: missing; logging in needs a user name": """
        sasl = "s"
        [sasl.s]
        password = "p\"""",
    "sasl.s.password: missing; logging in needs a password": """
        sasl = "s"
        [sasl.s]
        username = "u\"""",
    "client-profile.p.iam: 'i' needs TLS; set client-profile.p.tls": """
        iam = "i"
        [iam.i]
        region = "eu-west-1\"""",
    "iam.i.region: missing; IAM needs the AWS region": """
        iam = "i"
        tls = "t"
        [iam.i]""",
    'client-profile.p.iam: "i" names no iam section; must be one of: '
    "none, as there is no [iam.NAME] section": """
        iam = "i"
        tls = "t\"""",
}
NOTIFIER = """
        [zookeeper]
        servers = ["zk:2181"]
        [notifier.n]
        template-open = "TEMPLATE"
"""
REFUSED_NOTIFIERS = {
    'notifier.n.class-name: "sms" is not allowed; '
    "must be one of http, email, null, slack, alertmanager": 'class-name = "sms"',
    "notifier.n.interval: 0 is not allowed; must be a whole number, at least 1": """
        class-name = "null"
        interval = 0""",
    "notifier.n.template-close: missing; must name a template file": """
        class-name = "null"
        send-close = true""",
    'notifier.n.template-close: "nowhere" cannot be read: No such file or directory; '
    f"must be a template file, relative to the working directory {Path.cwd()}": """
        class-name = "null"
        send-close = true
        template-close = "nowhere\"""",
    "notifier.n.url-open: missing; an http notifier needs a URL": 'class-name = "http"',
    "notifier.n.url-close: missing; send-close needs a URL": """
        class-name = "http"
        url-open = "http://localhost"
        send-close = true
        template-close = "TEMPLATE\"""",
    'notifier.n.extra-ca: "nowhere" cannot be read: No such file or directory; '
    "must be a PEM file of certificates": """
        class-name = "http"
        url-open = "http://localhost"
        extra-ca = "nowhere\"""",
    'notifier.n.auth-type: "login" is not allowed; must be one of "", plain, crammd5': """
        class-name = "email"
        server = "h"
        port = 25
        from = "a"
        to = "b"
        auth-type = "login\"""",
    "notifier.n.port: 70000 is not allowed; must be a whole number, at least 1, at most 65535": """
        class-name = "email"
        server = "h"
        port = 70000
        from = "a"
        to = "b\"""",
    'notifier.n.server: "smtp://h" is not allowed: write the host alone, without smtp://; '
    "must be a host name or address": """
        class-name = "email"
        server = "smtp://h"
        port = 25
        from = "a"
        to = "b\"""",
    'notifier.n.server: "a b" is not allowed: it is more than one; '
    "must be a host name or address": """
        class-name = "email"
        server = "a b"
        port = 25
        from = "a"
        to = "b\"""",
    'notifier.n.method-open: "GO AWAY" is not allowed; must be an HTTP method such as POST': """
        class-name = "http"
        url-open = "http://localhost"
        method-open = "GO AWAY\"""",
    'notifier.n.headers: "a b" cannot be the name of a header': """
        class-name = "http"
        url-open = "http://localhost"
        headers = { "a b" = "c" }""",
    'notifier.n.headers: "x" has a value that cannot be in a header': """
        class-name = "http"
        url-open = "http://localhost"
        headers = { x = "a\\r\\nb: c" }""",
    "notifier.n.webhook-url: missing; must be a text": 'class-name = "slack"',
    "notifier.n.webhook-url: is not allowed: it does not begin with http:// or https://; "
    "must be the URL of an incoming webhook": """
        class-name = "slack"
        webhook-url = "T0/B0/secret\"""",
    'notifier.n.url: "http://" is not allowed: the host is missing; '
    "must be a URL such as https://host:port/path": """
        class-name = "alertmanager"
        url = "http://\"""",
    "notifier.n.send-once: is not possible: Alertmanager forgets an alert that is not repeated": """
        class-name = "alertmanager"
        url = "http://localhost:9093"
        send-once = true""",
    'notifier.n.extras: "a-b" cannot be a label of an alert; '
    "must be letters, digits and underscores": """
        class-name = "alertmanager"
        url = "http://localhost:9093"
        extras = { a-b = "c" }""",
    "notifier.n.from: is empty; must be a mail address": """
        class-name = "email"
        server = "h"
        port = 25
        from = ""
        to = "b\"""",
}


def wrongly_refused(directory: Path, cases: dict[str, str], start: str) -> dict[str, list[str]]:
    template = directory / "template"
    template.write_text("")
    found = {
        line: problems_of(directory, (start + text).replace("TEMPLATE", str(template)))
        for line, text in cases.items()
    }
    return {line: problems for line, problems in found.items() if problems != [line]}


def test_each_mistake_in_a_section_gets_its_line(tmp_path: Path) -> None:
    assert wrongly_refused(tmp_path, REFUSED, MINIMAL) == {}


def test_each_mistake_in_a_profile_gets_its_line(tmp_path: Path) -> None:
    assert wrongly_refused(tmp_path, REFUSED_PROFILES, MINIMAL + PROFILE) == {}


def test_each_mistake_in_a_notifier_gets_its_line(tmp_path: Path) -> None:
    assert wrongly_refused(tmp_path, REFUSED_NOTIFIERS, MINIMAL + NOTIFIER) == {}


def test_a_notifier_needs_a_template_and_no_zookeeper(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, '[notifier.n]\nclass-name = "null"\n')

    assert problems == ["notifier.n.template-open: missing; must name a template file"]


def test_new_notifier_classes_need_no_template(tmp_path: Path) -> None:
    text = '[zookeeper]\nservers = "zk:2181"\n[notifier.n]\nclass-name = "slack"\n'
    text += 'webhook-url = "https://localhost/services/T/B/X"\n'

    assert problems_of(tmp_path, text) == []


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = """
    [zookeeper]
    servers = ["zk"]
    root-path = "burrow/"
    [cluster.a]
    class-name = "nope"
    client-profile = "p"
    [client-profile.p]
    kafka-version = "x"
    [consumer.c]
    class-name = "kafka"
    cluster = "b"
    servers = ["h:0"]
    [storage.s]
    class-name = "inmemory"
    intervals = 0
    group-denylist = "["
    [notifier.n]
    class-name = "http"
    """

    problems = problems_of(tmp_path, text)

    assert sorted(problem.partition(": ")[0] for problem in problems) == [
        "client-profile.p.kafka-version",
        "cluster.a.class-name",
        "cluster.a.servers",
        "consumer.c.cluster",
        "consumer.c.servers",
        "notifier.n.template-open",
        "notifier.n.url-open",
        "storage.s.group-denylist",
        "storage.s.intervals",
        "zookeeper.root-path",
        "zookeeper.servers",
    ]


def test_sections_nobody_uses_only_warn(tmp_path: Path) -> None:
    text = """
    [zookeeper]
    servers = ["nonsense"]
    [client-profile.p]
    kafka-version = "foo"
    tls = "t"
    [tls.t]
    cafile = "nowhere"
    [sasl.s]
    mechanism = "GSSAPI"
    """

    loaded = load_text(tmp_path, MINIMAL + text)

    assert loaded.config.zookeeper is None
    assert [warning.partition(": ")[0] for warning in loaded.warnings] == [
        "client-profile.p.kafka-version",
        "sasl.s.mechanism",
        "zookeeper.servers",
        "tls.t.cafile",
    ]
    assert loaded.warnings[0].endswith(" (ignored: nothing refers to this section)")


def test_what_burrow_never_looks_at_does_not_stop_us(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("")
    fine = f"""
    [zookeeper]
    servers = ["zk:2181"]
    [notifier.n]
    class-name = "http"
    url-open = "http://localhost"
    template-open = "{tmp_path}/t"
    template-close = "nowhere"
    extra-ca = "nowhere"
    noverify = true
    threshold = 9
    send-interval = -1
    [consumer.zk]
    class-name = "kafka_zk"
    cluster = "local"
    servers = ["zk:2181"]
    client-profile = "nobody"
    [storage.s]
    class-name = "inmemory"
    min-distance = -1
    """

    assert problems_of(tmp_path, MINIMAL + fine) == []


def test_an_unknown_key_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    text = """
    sttart-latest = true
    [storage.s]
    class-name = "inmemory"
    interval = 5
    zzz = 1
    [notifer.x]
    a = 1
    [sasl]
    username = "u"
    """

    loaded = load_text(tmp_path, MINIMAL + text)

    assert sorted(loaded.unknown) == [
        "consumer.local.sttart-latest: unknown key; did you mean start-latest?",
        "notifer: unknown section; did you mean notifier?",
        "sasl.username: unknown key; sections are written [sasl.NAME]",
        "storage.s.interval: unknown key; did you mean intervals?",
        "storage.s.zzz: unknown key",
    ]


def test_unknown_keys_are_told_with_the_problems_they_may_explain(tmp_path: Path) -> None:
    text = '[cluster.c]\nclass-name = "kafka"\nserver = ["h:1"]\n[notifer.x]\n'

    assert problems_of(tmp_path, text) == [
        f"cluster.c.servers: missing; must be a list, each {HOST_PORT[8:]}",
        "notifer: unknown section; did you mean notifier?",
        "cluster.c.server: unknown key; did you mean servers?",
    ]


def test_a_value_where_a_section_belongs_is_unknown(tmp_path: Path) -> None:
    text = "general = 5\nstorage = 1\ncluster = 0\n[[consumer]]\nclass-name = 'kafka'\n"

    loaded = load_text(tmp_path, text)

    assert loaded.config.storage.name == "default"
    assert sorted(loaded.unknown) == [
        "cluster: unknown key; sections are written [cluster.NAME]",
        "consumer: unknown key; sections are written [consumer.NAME]",
        "general: unknown key; sections are written [general]",
        "storage: unknown key; sections are written [storage.NAME]",
    ]


def test_a_key_of_another_class_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("")
    text = f"""
    [zookeeper]
    servers = ["zk:2181"]
    [notifier.n]
    class-name = "null"
    template-open = "{tmp_path}/t"
    url-open = "http://localhost"
    """

    loaded = load_text(tmp_path, MINIMAL + text)

    assert loaded.warnings == [
        "notifier.n.url-open: not used by a section of this class-name",
    ]
    assert loaded.unknown == []


def test_keys_given_twice_in_different_case_are_told(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, MINIMAL + '[logging]\nlevel = "warn"\nLevel = "error"\n')

    assert loaded.config.logging.level == "error"
    assert loaded.warnings == [
        "logging.level: given more than once, in different case; the last one counts"
    ]


def test_burrows_keys_that_do_nothing_here_are_listed_when_set(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, '[storage.s]\nclass-name = "inmemory"\nworkers = 5\n')

    assert loaded.unused == ["storage.s.workers: not used; Warren has no such queues and workers"]
