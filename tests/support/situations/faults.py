"""Groups that stopped, are stuck or too slow: somebody has to be told, and soon."""

from random import Random

from support.scene import Dial, Scene


def _until_told(every: float) -> float:
    """By then a group that commits so often must have been told of."""
    return max(600.0, 3 * every + 120)


def d1(d: Dial) -> Scene:
    every, stops = d.number(5, 1, 60), d.number(900, 400, 1800)
    scene = Scene(
        "commits with lag 0, then dies, and records come", 4000, refresh_s=d.one_of(10, 5, 60)
    )
    scene.topic().members(0, "m1").grow(0, d.number(10, 0.2, 5000)).follow(0, stops, every)
    late = stops + _until_told(every)
    scene.says(6 * every + 120, stops, "OK").quiet(0, stops).told(stops, late)
    return scene.says(late, 4000, "STOP").lag(3907.7).age(3907.7)


def d1back(d: Dial) -> Scene:
    """It is restarted and reads what waits."""
    every, back = d.number(5, 1, 30), d.number(1800, 1600, 2400)
    rate = d.number(10, 1, 3000)
    scene = Scene("dies, is restarted, and reads what waits", 4800)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, 900, every).told(900, 1500)
    scene.says(1500, back, "STOP").members(back, "m2").follow(back, 4800, every, pace=3 * rate)
    return scene.says(back + every + 20, 4800, "OK").quiet(back + every + 20, 4800)


def d1again(d: Dial) -> Scene:
    """Two outages are no rhythm, however alike they are: the third is told as soon."""
    out, works, every = d.number(900, 600, 1100), d.number(2700, 2400, 3000), d.number(5, 1, 30)
    scene = Scene("two outages of minutes, hours apart; then it dies", 3 * works + 2 * out + 1200)
    rate, begin = d.number(10, 1, 1000), 0.0
    scene.topic().members(0, "m1").grow(0, rate)
    for _ in range(3):
        ends = begin + works
        scene.follow(begin, ends, every, pace=4 * rate).told(ends, ends + 600)
        begin = ends + out
    return scene.says(ends + 600, scene.until, "STOP")


def d2(d: Dial) -> Scene:
    every, count = d.number(10, 5, 30), d.whole(30, 15, 60)
    stops = every * count + 1
    scene = Scene("a busy consumer is silent after some dozens of commits", stops + 1500)
    scene.topic().members(0, "m1").grow(0, d.number(200, 1, 5000)).follow(
        0, stops, every, behind_s=2
    )
    scene.quiet(0, stops).told(stops, stops + 600)
    return scene.says(stops + 600, stops + 1500, "STOP")


def d3(d: Dial) -> Scene:
    every, rate = d.number(300, 60, 600), d.number(100, 10, 3000)
    scene = Scene("commits minutes apart; slower than the producer", 10800)
    scene.topic().members(0, "m1").grow(0, rate)
    return scene.follow(0, 10800, every, pace=d.number(0.6, 0.3, 0.8) * rate).told(
        300, 18 * every + 600
    )


def d4(d: Dial) -> Scene:
    rate = d.number(100, 20, 5000)
    scene = Scene(
        "quick commits, ends read less often, the producer is faster",
        3600,
        refresh_s=d.one_of(10, 30, 60),
    )
    scene.topic().members(0, "m1").grow(0, rate).follow(
        0, 3600, d.number(1, 1, 5), pace=d.number(0.8, 0.5, 0.85) * rate
    )
    return scene.told(120, 1800).says(1900, 3600, "WARN").lag(3501.3)


def d4fresh(d: Dial) -> Scene:
    """It kept up until then; and afterwards it keeps up again."""
    rate, slows, quickens = d.number(100, 20, 5000), 1500.0, 4200.0
    scene = Scene("falls behind for a while, then catches up", 9000, refresh_s=d.one_of(10, 30))
    every = d.number(5, 1, 30)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, slows, every)
    scene.follow(slows, quickens, every, pace=0.8 * rate).follow(
        quickens, 9000, every, pace=1.6 * rate
    )
    scene.quiet(0, slows).told(slows + 120, slows + 1800).says(slows + 1800, quickens, "WARN")
    return scene.says(quickens + 900, 9000, "OK").quiet(quickens + 900, 9000)


def d4barely(d: Dial) -> Scene:
    """Ends are read so rarely that minutes hide what it falls behind."""
    scene = Scene("a little slower than the producer, for hours", 10800, refresh_s=d.one_of(60, 30))
    rate, part = d.number(100, 10, 3000), d.number(0.97, 0.94, 0.975)
    scene.topic().members(0, "m1").grow(0, rate)
    scene.follow(0, 10800, d.number(1, 1, 30), pace=part * rate).told(300, 10800)
    return scene.says(7200, 10800, "WARN")


def d5noisy(d: Dial) -> Scene:
    """It is told once: what it catches up with now and then changes nothing."""
    scene = Scene("noisy, and slower than the producer on the whole", 9000)
    rate, part, every = d.number(20, 10, 1000), d.number(0.8, 0.5, 0.82), d.number(30, 5, 45)
    scene.topic().members(0, "m1").grow(0, rate)
    chance, at, position = Random(f"{rate} {every}"), 0.0, 0.0  # noqa: S311 - no secrets
    while at < 9000 - 1.3 * every:
        took = every * chance.uniform(0.7, 1.3)
        end = scene.logs["orders", 0].end_at(at + took)
        at += took
        position = min(end, position + part * rate * took * chance.uniform(0, 2))
        scene.commit(at, int(position))
    return scene.told(300, 3000).says(3000, 9000, "WARN")


def d5(d: Dial) -> Scene:
    rate, every = d.number(500, 20, 3000), d.number(5, 2, 15)
    scene = Scene("lag grows for an hour, with a dip now and then", 4200)
    scene.topic().members(0, "m1").grow(0, rate)
    at, dip = 0.0, 0
    while at < 4200:
        scene.follow(at, at + 30, every, pace=0.72 * rate)
        scene.follow(at + 30, at + 36, every, pace=1.1 * rate)
        at, dip = at + 30, dip + 1
    return scene.told(120, 1800).says(1900, 4200, "WARN")


def d6(d: Dial) -> Scene:
    rate, works, pauses = d.number(50, 5, 1000), d.number(60, 40, 90), d.number(120, 60, 150)
    scene = Scene("paused again and again; lag grows over all", 5400)
    scene.topic().members(0, "m1").grow(0, rate)
    at = 0.0
    pace = 0.7 * rate * (works + pauses) / works
    while at < 5400:
        scene.follow(at, at + works, 5, pace=pace).stand(at + works, at + works + pauses, 5)
        at += works + pauses
    return scene.told(300, 3600)


def d6long(d: Dial) -> Scene:
    """A saw-tooth of minutes: it catches up in each run, and less than it lost."""
    works, pauses = d.number(450, 120, 450), d.number(240, 90, 300)
    rate, net = d.number(50, 5, 1000), d.number(0.8, 0.7, 0.9)
    scene = Scene("runs and pauses of minutes; lag grows over all", 7200)
    scene.topic().members(0, "m1").grow(0, rate)
    at, stands = 0.0, d.chance(usual=True)
    while at < 7200:
        scene.follow(at, at + works, 5, pace=net * rate * (works + pauses) / works)
        if stands:
            scene.stand(at + works, at + works + pauses, 5)
        at += works + pauses
    return scene.told(300, 3600)


def d7(d: Dial) -> Scene:
    scene = Scene("the consumer is dead, producers go on", 3600)
    scene.topic(2).members(0, "m1")
    for each in (0, 1):
        scene.grow(0, d.number(20, 1, 3000), each).follow(0, 700, 5, partition=each)
        scene.says(1300, 3600, "STOP", partition=each).lag(3502.5, each).age(3502.5, each)
    return scene.members(750, "m2").told(700, 1300).quiet(0, 700)


def d8(d: Dial) -> Scene:
    count, every = d.whole(4, 2, 60), d.number(5, 2, 30)
    bad, stops = count // 2, d.number(600, 400, 1500)
    scene = Scene("one partition is not committed after an election, the others are fine", 3600)
    scene.topic(count).members(0, "m1", "m2")
    rate = d.number(20, 1, 500)
    for each in range(count):
        until = stops if each == bad else 3600
        scene.grow(0, rate, each).follow(0, until, every, partition=each)
        if each != bad:
            scene.says(100, 3600, "OK", partition=each)
    return scene.says(stops + 720, 3600, "STOP", partition=bad).told(stops, stops + 720)


def d9(d: Dial) -> Scene:
    """The others commit minutes apart: the rhythm of the group is not an excuse for ever."""
    every, stops = d.number(60, 10, 120), 1800.0
    scene = Scene("a restarted task reads all partitions but one", 5400)
    scene.topic(14).members(0, "m1")
    for each in range(14):
        until = stops if each == 5 else 5400
        scene.grow(0, 8, each).follow(0, until, every, partition=each)
    scene.members(stops + 3, "m2").quiet(0, stops).told(stops, stops + _until_told(every))
    scene.says(300, 5400, "OK", partition=6)
    return scene.says(stops + _until_told(every), 5400, "STOP", partition=5)


def d10(d: Dial) -> Scene:
    every, stuck = d.number(5, 1, 30), d.number(600, 400, 1500)
    scene = Scene(
        "a poison message: the same offset again and again, lag grows; then it is skipped", 6000
    )
    rate = d.number(10, 0.5, 1000)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, stuck, every).stand(stuck, 3600, every)
    scene.told(stuck, stuck + 900).says(stuck + 1000, 3600, "STALL").quiet(0, stuck)
    scene.follow(3600, 6000, every, pace=4 * rate)
    return scene.says(3600 + every + 20, 6000, "OK").quiet(3600 + every + 20, 6000)


def d11(d: Dial) -> Scene:
    every, takes = d.number(5, 1, 20), d.number(60, 20, 170)
    scene = Scene("one message takes long, the same offset is committed meanwhile", 3600)
    scene.topic().members(0, "m1").grow(0, d.number(10, 0.5, 1000)).follow(0, 600, every)
    scene.stand(600, 600 + takes, every).follow(600 + takes, 2400, every)
    return scene.stand(2400, 2400 + takes, every).follow(2400 + takes, 3600, every).sound(100)


def d12(d: Dial) -> Scene:
    rate, lag = d.number(100, 20, 1000), d.whole(447478, 1000, 10**6)
    scene = Scene("one hot partition of many is read slower than it is written", 5400)
    scene.topic(64, end=lag).members(0, "m1", "m2")
    for each in range(64):
        pace, first = (0.93 * rate, 0) if each == 0 else (4 * rate, lag)
        scene.commit(1, first, each).grow(0, rate, each)
        scene.follow(1, 5400, 10, pace=pace, partition=each)
    scene.told(300, 2400).says(2400, 5400, "WARN").lag(4803)
    return scene.says(100, 5400, "OK", partition=1).says(100, 5400, "OK", partition=63)


def d13(d: Dial) -> Scene:
    every, leaves = d.number(5, 1, 30), d.number(905, 400, 1500)
    scene = Scene("the last member leaves; the producer goes on", 4200)
    scene.topic().members(0, "m1").grow(0, d.number(5, 0.2, 500)).follow(0, leaves, every)
    scene.members(leaves + 1).quiet(0, leaves).told(leaves, leaves + 700)
    return scene.says(leaves + 700, 4200, "STOP").lag(4103.3)


def d14(d: Dial) -> Scene:
    stops = 900.0
    scene = Scene("reads two topics; who read the second is gone", 3600)
    scene.topic(2).topic(2, name="payments").members(0, "m1", "m2", topics=("orders", "payments"))
    for each in (0, 1):
        rate = d.number(20, 1, 500)
        scene.grow(0, rate, each).grow(0, rate, each, "payments")
        scene.follow(0, 3600, 5, partition=each).follow(
            0, stops, 5, partition=each, topic="payments"
        )
    left = {"orders": [0, 1]}
    scene.members(stops + 2, "m1", topics=("orders", "payments"), assigned={"m1": left})
    scene.told(stops, stops + 600).says(100, 3600, "OK")
    return scene.says(stops + 600, 3600, "STOP", topic="payments")


def d15(d: Dial) -> Scene:
    begins, every = d.number(600, 400, 1500), d.number(2, 1, 15)
    scene = Scene(
        "members join for ever, nothing is committed; then one is left, and it goes on", 4800
    )
    rate, ends = d.number(20, 1, 500), 3000.0
    scene.topic().members(0, "m1").grow(0, rate).follow(0, begins, d.number(5, 1, 30))
    at, number = begins + 1, 0
    while at < ends:
        scene.members(round(at, 3), f"m{number}", assigned={f"m{number}": {}})
        at, number = at + every, number + 1
    scene.told(begins, begins + 800).says(begins + 700, ends - 30, "STORM", "STOP").quiet(0, begins)
    scene.members(ends, "m1").follow(ends, 4800, 5, pace=4 * rate)
    return scene.says(ends + 40, 4800, "OK").quiet(ends + 40, 4800)


def d15works(d: Dial) -> Scene:
    """Members come and go all the time, and it reads all the same."""
    scene = Scene("rebalances again and again, and reads all the same", 2400)
    scene.topic().grow(0, d.number(20, 1, 500)).follow(0, 2400, 5)
    for number, at in enumerate(range(0, 2400, d.whole(10, 5, 20))):
        scene.members(at, f"m{number}")
    return scene.sound(60)


def d16(d: Dial) -> Scene:
    dies = d.number(900, 500, 1500)
    scene = Scene("a static member dies; nobody takes over its partitions", 3600)
    scene.topic(4).members(0, "m1", "m2")
    for each in range(4):
        scene.grow(0, d.number(20, 1, 500), each)
        scene.follow(0, dies if each % 2 else 3600, 5, partition=each)
        words = ("STOP",) if each % 2 else ("OK",)
        scene.says(dies + 600, 3600, *words, partition=each)
    return scene.told(dies, dies + 600).quiet(0, dies)


def d17(d: Dial) -> Scene:
    pauses, leaves = d.number(600, 400, 1200), 2400.0
    scene = Scene("pauses itself and never resumes; later it leaves", 4200)
    scene.topic().members(0, "m1").grow(0, d.number(20, 1, 500)).follow(0, pauses, 5)
    scene.stand(pauses, leaves, 5).members(leaves, *())
    scene.told(pauses, pauses + 900).says(pauses + 900, leaves, "STALL")
    return scene.says(leaves + 900, 4200, "STOP").says(leaves, leaves + 900, "STALL", "STOP")


def d18(d: Dial) -> Scene:
    limit, slows = d.whole(600, 300, 1500), 1200.0
    scene = Scene(
        "nobody looks; it falls behind until it is later than it may be",
        0,
        policy={"max-time-lag": limit},
    )
    rate, part = d.number(200, 5, 3000), d.number(0.5, 0.3, 0.8)
    late = slows + limit / (1 - part)
    scene.until = late + 1500
    scene.topic().members(0, "m1").grow(0, rate).follow(0, slows, 5).follow(
        slows, scene.until, 5, pace=part * rate
    )
    return scene.quiet(0, late - 30).told(late - 30, late + 90).says(late + 90, scene.until, "WARN")
