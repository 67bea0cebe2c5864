"""Transactions: markers that nobody reads, and open transactions that hold back what is written."""

from support.scene import Dial, Scene


def _transactional(d: Dial, about: str, partitions: int = 1) -> Scene:
    """Records in transactions until 600 s; then idle with the marker after the last commit."""
    scene = Scene(about, 5400, refresh_s=d.one_of(10, 5, 30))
    scene.topic(partitions).members(0, "m1")
    rate, every = d.number(5, 0.5, 500), d.number(5, 1, 30)
    for each in range(partitions):
        scene.grow(0, rate, each).grow(600, 0, each).follow(
            0, 600 + 1.5 * every, every, partition=each
        )
        end = scene.logs["orders", each].end_at(600)
        scene.commit(600 + 2 * every, end, each)
    return scene


def b1(d: Dial) -> Scene:
    scene = _transactional(d, "exactly-once; idle; only markers follow the commit")
    count = d.whole(1, 1, 3)
    end = scene.logs["orders", 0].end_at(600)
    scene.end(701, end + count).happens(701, "markers", "orders", 0, count)
    if d.chance(usual=True):
        scene.stand(701, 5400, 5)
    scene.sound()
    scene.expected["lag"] = [[5000, "billing", "orders", 0, 0]]
    return scene


def b2(d: Dial) -> Scene:
    count = d.whole(12, 3, 40)
    scene = _transactional(d, "a marker on every partition", count)
    for each in range(count):
        end = scene.logs["orders", each].end_at(600)
        scene.end(701, end + 1, each).happens(701, "markers", "orders", each, 1)
    scene.sound()
    scene.expected["lag"] = [[5000, "billing", "orders", each, 0] for each in range(count)]
    return scene


def b3(d: Dial) -> Scene:
    """Each burst ends with a marker; what it commits is the last record it was given."""
    scene = Scene("bursts in transactions; the commit stops before the marker", 5400)
    scene.topic().members(0, "m1")
    at, end, between = 60.0, 0, d.number(600, 120, 1500)
    while at < 5300:
        count = d.whole(200, 5, 5000)
        end += count + 1
        scene.end(at, end).happens(at, "markers", "orders", 0, 1)
        for part in (0.3, 0.7, 1.0):
            scene.commit(at + 20 * part, end - 1 - count + int(count * part))
        at += between
    last = end - 1
    assert scene.logs["orders", 0].commits["billing"][-1][1] == last
    scene.sound()
    scene.expected["lag"] = [[5395, "billing", "orders", 0, 0]]
    return scene


def b4(d: Dial) -> Scene:
    """Two groups commit the last offset they have read; one has a policy for that."""
    scene = Scene("commits the last read offset", 3600, policy={"allowed-lag": 1})
    scene.topic().grow(0, d.number(5, 0.5, 100)).grow(600, 0).members(0, "m1")
    end = scene.logs["orders", 0].end_at(600)
    scene.follow(0, 600, 5).commit(606, end - 1).stand(606, 3600, d.number(5, 1, 60))
    return scene.sound().lag(3000)


def b4twin(d: Dial) -> Scene:
    scene = b4(d)
    scene.about = "stands before the last record, and no policy allows that"
    scene.settings.pop("policy")
    scene.expected = {}
    return scene.told(610, 1500).says(1500, 3600, "STALL", "STOP").lag(3000)


def b5(d: Dial) -> Scene:
    opens, every = 60.0, d.number(5, 1, 30)
    end = d.whole(200, 50, 100_000)
    scene = Scene(
        "an open transaction holds the end that readers see", 2700, refresh_s=d.one_of(10, 30)
    )
    scene.topic(end=end).members(0, "m1").commit(1, end).stand(1, 2700, every)
    scene.happens(opens, "stable", "orders", 0, end).grow(opens, d.number(2.4, 0.5, 200)).grow(
        660, 0
    )
    scene.says(opens + 240, 2700, "BLOCKED").quiet(0, opens + 780).told(opens + 840, opens + 1300)
    scene.expected["lag"] = [[2600, "billing", "orders", 0, 0]]
    return scene


def b5ends(d: Dial) -> Scene:
    """The transaction is committed after some minutes, and all is read."""
    opens, closes = 60.0, d.number(600, 300, 850)
    scene = Scene("a transaction is open for minutes", 2700)
    scene.topic(end=500).members(0, "m1").commit(1, 500).stand(1, closes, 5)
    scene.happens(opens, "stable", "orders", 0, 500).grow(opens, d.number(4, 0.5, 200))
    scene.happens(closes, "stable", "orders", 0, None).follow(closes, 2700, 5)
    return scene.says(closes + 40, 2700, "OK").quiet(0, 2700)


def b5short(d: Dial) -> Scene:
    """Transactions of some seconds, one after the other: what readers see trails the end."""
    scene = Scene("transactions of seconds, one after the other", 1800)
    rate, lasts = d.number(50, 5, 500), d.number(5, 2, 25)
    scene.topic().members(0, "m1").grow(0, rate)
    at = 0.0
    while at < 1800:
        seen = scene.logs["orders", 0].end_at(at)
        scene.happens(round(at, 3), "stable", "orders", 0, seen)
        scene.commit(at + 0.2, seen)
        at += lasts
    return scene.sound(40)


def b5regular(d: Dial) -> Scene:
    """Transactions of minutes, one after the other: that is how they are."""
    rate, lasts = d.number(50, 5, 500), d.number(240, 130, 500)
    scene = Scene("transactions of minutes, one after the other", 18 * lasts)
    scene.topic().members(0, "m1").grow(0, rate)
    at = 0.0
    while at < scene.until:
        seen = scene.logs["orders", 0].end_at(at)
        scene.happens(round(at, 3), "stable", "orders", 0, seen).commit(at + 0.2, seen)
        at += lasts * (1 + 0.1 * d.jitter())
    return scene.quiet(0, scene.until).says(4 * lasts, scene.until, "OK")


def b5behind(d: Dial) -> Scene:
    """It has always stopped where committed records end, so it reads no others."""
    rate, lasts, every = d.number(20, 2, 300), d.number(60, 30, 90), d.number(5, 1, 8)
    begins, unread = 12 * lasts, d.whole(100, 1, 200)
    scene = Scene(
        "reads committed data, and stands before the end that an open transaction holds", 0
    )
    scene.until = begins + 2000
    scene.topic(end=1000).members(0, "m1").commit(1, 1000).grow(1.5, rate)
    log, at = scene.logs["orders", 0], 2.0
    while at < begins:
        seen = log.end_at(at)
        scene.happens(round(at, 3), "stable", "orders", 0, seen).commit(at + 0.2, seen)
        scene.stand(at + 0.2, at + lasts - 0.1, every)
        at += lasts
    readable = log.commits["billing"][-1][1] + unread
    scene.happens(round(at, 3), "stable", "orders", 0, readable).stand(at, scene.until, every)
    scene.told(at, at + 700).says(at + 700, scene.until, "STALL")
    asked = scene.until - scene.until % 10
    scene.expected["lag"] = [[asked, "billing", "orders", 0, unread]]
    return scene


def b5uncommitted(d: Dial) -> Scene:
    """It has been beyond where committed records end, so no transaction holds it back."""
    rate, opens = d.number(20, 1, 200), d.number(600, 300, 900)
    scene = Scene("reads what is not committed yet; later it stands before that", 3600)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, 2000, 5).stand(2000, 3600, 5)
    log = scene.logs["orders", 0]
    scene.happens(opens, "stable", "orders", 0, log.end_at(opens))
    scene.happens(1500, "stable", "orders", 0, None)
    scene.happens(2100, "stable", "orders", 0, log.end_at(2100))
    scene.told(2000, 2600).says(2600, 3600, "STALL").quiet(0, 2000)
    return scene.lag(3500)


def b6(d: Dial) -> Scene:
    """The same picture as an idle topic's; but what is left are records."""
    scene = _transactional(d, "what is left are records that nobody reads")
    end = scene.logs["orders", 0].end_at(600)
    scene.end(701, end + d.whole(115, 1, 5000))
    if d.chance(usual=False):
        scene.stand(701, 5400, 5)
    return scene.told(701, 1601).says(1601, 5400, "STOP", "STALL").lag(5000)
