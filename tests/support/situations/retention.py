"""What was never committed, and what retention took."""

from support.scene import Dial, Scene


def c1(d: Dial) -> Scene:
    scene = Scene("all read; production stops, retention empties the topic", 5400)
    end = d.whole(5000, 10, 10**7)
    scene.topic(3, end=end).members(0, "m1")
    for each in range(3):
        scene.commit(5, end, each).stand(5, 62, 5, partition=each).start(3600, end, each)
    if d.chance(usual=True):
        scene.stand(3700, 5400, 30)
    return scene.sound().lag(5000).age(5000)


def c1marker(d: Dial) -> Scene:
    """The commit lies before the last marker, and retention takes it."""
    scene = Scene("all read but a marker, and retention takes the marker", 5400)
    end = d.whole(5000, 10, 10**6)
    scene.topic(end=end + 1).members(0, "m1").happens(0, "markers", "orders", 0, 1)
    scene.commit(5, end).stand(5, 62, 5).start(3600, end + 1)
    scene.sound()
    scene.expected["lag"] = [[5000, "billing", "orders", 0, 0]]
    return scene


def c1writes(d: Dial) -> Scene:
    """Retention has taken the marker; then records come, and are read after a while."""
    scene = Scene("all read but a marker, which retention takes; then records come", 7200)
    end, comes = d.whole(5000, 10, 10**6), d.number(5003, 4000, 6000)
    scene.topic(end=end + 1).members(0, "m1").happens(0, "markers", "orders", 0, 1)
    scene.commit(5, end).stand(5, d.number(62, 20, 200), 5).start(3600, end + 1)
    scene.end(comes, end + 3).commit(comes + d.number(22, 5, 100), end + 3)
    return scene.sound(100)


def c2(d: Dial) -> Scene:
    first, end = d.whole(2_000_000, 0 + 1, 10**8), d.whole(3_000, 1, 10**6)
    scene = Scene("a group has not committed anything yet; backlog is not lag", 2400)
    scene.topic(2, start=first, end=first + end).members(0, "m1")
    scene.says(200, 2400, "NEVER").says(200, 2400, "NEVER", partition=1).quiet(0, 2400)
    scene.expected["lag"] = [[2000, "billing", "orders", each, end] for each in (0, 1)]
    return scene


def c3(d: Dial) -> Scene:
    end = d.whole(4000, 1, 10**6)
    scene = Scene("never read, and all expired: nothing waits", 2400)
    scene.topic(2, start=end, end=end).members(0, "m1").commit(5, end).stand(5, 2400, 5)
    scene.says(200, 2400, "NEVER", "OK", partition=1).quiet(0, 2400)
    scene.expected["lag"] = [[2000, "billing", "orders", 1, 0]]
    return scene


def c4(d: Dial) -> Scene:
    scene = Scene("one topic is busy, the other idle with a short retention", 4800)
    scene.topic(2).topic(2, end=900, name="rare").members(0, "m1", topics=("orders", "rare"))
    for each in (0, 1):
        scene.grow(0, d.number(50, 1, 1000), each).follow(
            0, 4800, d.number(5, 1, 30), partition=each
        )
    scene.commit(10, 900, 0, "rare").start(1200, 900, 0, "rare").start(1200, 900, 1, "rare")
    scene.says(100, 4800, "NEVER", partition=1, topic="rare").says(100, 4800, "OK", topic="rare")
    scene.lag(4700, 0, "rare")
    return scene.quiet(0, 4800).says(60, 4800, "OK")


def c5(d: Dial) -> Scene:
    end = d.whole(1234234, 10, 10**8)
    scene = Scene("no commit on a partition, of one that has them elsewhere", 2400)
    scene.topic(2, end=end).members(0, "m1").commit(5, end).stand(5, 2400, 5)
    scene.says(200, 2400, "NEVER", partition=1).quiet(0, 2400).says(60, 2400, "OK")
    scene.expected["lag"] = [[2000, "billing", "orders", 1, end]]
    return scene


def c6(d: Dial) -> Scene:
    scene = Scene("two partitions without a commit, a third that is read", 2400)
    scene.topic(3, end=0).end(0, 3083, 0).end(0, 4388, 2).members(0, "m1")
    scene.commit(5, 4388, 2).stand(5, 2400, d.number(5, 1, 60), partition=2)
    scene.says(200, 2400, "NEVER").says(200, 2400, "NEVER", "OK", partition=1)
    scene.says(60, 2400, "OK", partition=2).quiet(0, 2400)
    scene.expected["lag"] = [
        [2000, "billing", "orders", each, [3083, 0, 0][each]] for each in (0, 1, 2)
    ]
    return scene


def c7(d: Dial) -> Scene:
    scene = Scene("twenty partitions; the offsets of seventeen have expired", 3600)
    active = range(3)
    scene.topic(20, end=700).members(0, "m1", assigned={"m1": {"orders": [*active]}})
    for each in range(20):
        scene.commit(5, 700, each)
    for each in active:
        scene.grow(0, d.number(4, 0.5, 100), each).follow(5, 3600, 5, partition=each)
        scene.says(60, 3600, "OK", partition=each).lag(3502.5, each)
    for each in range(3, 20):
        scene.happens(600, "forget", "billing", "orders", each).grow(700, 5, each)
    return scene.quiet(0, 3600)


def c8(d: Dial) -> Scene:
    start, count = d.whole(1000, 0 + 1, 10**6), d.whole(3000, 1, 10**6)
    scene = Scene("a partition is never committed; records wait", 3600)
    scene.topic(2, start=start, end=start + count).members(0, "m1")
    scene.commit(5, start + count, 1).stand(5, 3600, 5, partition=1)
    scene.says(200, 3600, "NEVER").says(60, 3600, "OK", partition=1).quiet(0, 3600)
    scene.expected["lag"] = [[3300, "billing", "orders", 0, count]]
    return scene


def c8twin(d: Dial) -> Scene:
    grace = d.whole(600, 120, 1200)
    scene = c8(d)
    scene.about = "a partition is never committed, and a policy wants that told"
    scene.settings["policy"] = {"billing": {"pages": ["STOP", "NEVER"], "grace": grace}}
    del scene.expected["quiet"]
    return scene.quiet(0, grace).told(grace, grace + 240)


def c8named(d: Dial) -> Scene:
    """Nobody sees who reads a group that assigns its partitions; its policy knows."""
    scene = Scene("without members; a policy names what is never committed", 2400)
    scene.settings["policy"] = {"billing": {"topics": ["ord.*"], "pages": ["NEVER"]}}
    scene.topic(2, end=d.whole(3000, 1, 10**6)).topic(2, end=9, name="bills")
    for topic in ("orders", "bills"):
        end = scene.topics[topic]["end"]
        scene.commit(5, end, 1, topic).stand(5, 2400, 5, partition=1, topic=topic)
    scene.says(200, 2400, "NEVER").says(60, 2400, "OK", partition=1).told(60, 200)
    return scene.says(60, 2400, "OK", topic="bills")


def c8ends(d: Dial) -> Scene:
    """It commits at last."""
    begins = d.number(900, 200, 1800)
    scene = Scene("a new group takes long before its first commit", 3600)
    scene.topic(end=d.whole(3000, 1, 10**5)).members(0, "m1").follow(begins, 3600, 5)
    return scene.says(100, begins, "NEVER").says(begins + 30, 3600, "OK").quiet(0, 3600)


def c9(d: Dial) -> Scene:
    stops, keeps, rate = 1200.0, d.number(5400, 3600, 7200), d.number(10, 1, 500)
    scene = Scene("a stopped consumer; retention reaches its offset", stops + keeps + 1800)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, stops + 1, 5).members(stops + 10)
    at = keeps
    while at < scene.until:
        scene.start(at, scene.logs["orders", 0].end_at(at - keeps))
        at += 60
    scene.told(stops, stops + 900).age(stops + 0.8 * keeps)
    scene.says(stops + 900, stops + keeps - 70, "STOP")
    return scene.says(stops + keeps + 200, scene.until, "LOST")


def c9back(d: Dial) -> Scene:
    """After the loss it reads on from the log's start."""
    rate = d.number(10, 1, 500)
    scene = Scene("records were lost; then the group reads what is left", 4800)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, 601, 5)
    left = scene.logs["orders", 0].end_at(1500)
    scene.start(1800, left).says(2000, 2690, "LOST").told(600, 1200)
    scene.follow(2700, 4800, 5, at=left, pace=4 * rate)
    return scene.says(2760, 4800, "OK").quiet(2760, 4800)


def c10(d: Dial) -> Scene:
    count = d.whole(300, 50, 400)
    scene = Scene("hundreds of partitions drained past retention, and a busy one", 1200)
    scene.topic(count, start=0, end=900).members(0, "m1")
    for each in range(1, count):
        scene.commit(5, 880 if each % 2 else 900, each).start(200, 900, each)
    scene.grow(0, 20).follow(5, 1200, 5, at=900).says(60, 1200, "OK").lag(1102.5)
    for each in (2, count - 1 - count % 2):
        scene.lag(1100, each)
    scene.says(100, 1200, "OK", partition=2)
    return scene
