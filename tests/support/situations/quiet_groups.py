"""Groups that are quiet, irregular or periodic: nobody may be woken; and the twins of some."""

import math
from random import Random

from support.scene import TOPIC, Dial, Scene


def a1(d: Dial) -> Scene:
    every, ends = d.number(5, 1, 60), d.number(600, 300, 1200)
    scene = Scene(
        "reads all, then nobody writes for hours", 7200, refresh_s=d.one_of(10, 5, 30, 60)
    )
    scene.topic().members(0, "m1").grow(0, d.number(10, 0.2, 3000)).grow(ends, 0)
    return scene.follow(0, ends + 3 * every, every).lag(7200).age(7200).sound()


def a2(d: Dial) -> Scene:
    scene = Scene(
        "an idle partition, committed every few seconds", 5400, refresh_s=d.one_of(10, 60)
    )
    scene.topic(end=5059598, start=5000000).members(0, "m1").commit(1, 5059598)
    return scene.stand(1, 5400, d.number(5, 1, 120)).lag(5000).age(5000).sound()


def a2twin(d: Dial) -> Scene:
    came, every = 2405.0, d.number(5, 1, 60)
    scene = Scene("an idle partition; records come and are not read", 3600)
    scene.topic(end=5059598).members(0, "m1").commit(1, 5059598).stand(1, 3600, every)
    scene.grow(came, d.number(1, 0.1, 100)).told(came, came + 600)
    return scene.says(came + 600, 3600, "STALL").says(20, 2400, "OK").quiet(0, came).lag(3595.3)


def a3(d: Dial) -> Scene:
    comes, takes = 1800, d.number(80, 5, 200)
    scene = Scene("idle for half an hour; a record comes and takes a while", 3600)
    scene.topic(end=1000).members(0, "m1").commit(0, 1000).stand(0, 62, 5)
    scene.end(comes, 1001).commit(comes + takes, 1001)
    return scene.end(2900, 1003).commit(2900 + takes, 1003).sound()


def a3twin(d: Dial) -> Scene:
    came = d.number(1800, 600, 2400)
    scene = Scene("idle; a record comes, and its reader has died", 3600)
    scene.topic(end=1000).members(0, "m1").commit(0, 1000).stand(0, 62, 5)
    scene.end(came, 1000 + d.whole(1, 1, 5000)).told(came + 60, came + 900)
    return scene.says(came + 900, 3600, "STOP").says(100, came, "OK").quiet(0, came)


def a4(d: Dial) -> Scene:
    every, pause = d.number(187, 60, 300), d.number(1740, 900, 3000)
    scene = Scene("commits minutes apart, silence for longer; all is read", 7200)
    ends, comes = 10 * every, 10 * every + pause
    scene.topic(end=40).members(0, "m1").grow(0, 0.1).grow(ends, 0)
    scene.follow(0, ends + every * 1.5, every)
    scene.end(comes, scene.logs["orders", 0].end_at(comes) + 3)
    return scene.commit(comes + 20, scene.logs["orders", 0].end_at(comes)).sound()


def a5(d: Dial) -> Scene:
    scene = Scene("two commits at once, and nothing more is written", 3600)
    scene.topic().members(0, "m1").end(300, 1).commit(300.2, 1).end(300.3, 2)
    return scene.commit(300.3 + d.number(0.2, 0.05, 3), 2).sound().lag(3000)


def a5twin(d: Dial) -> Scene:
    scene = Scene("two commits at once; its reader is killed, and more is written", 3600)
    scene.topic().members(0, "m1").end(300, 1).commit(300.2, 1).end(300.3, 2).commit(300.5, 2)
    scene.grow(600, d.number(2, 0.05, 500)).told(620, 620 + 900)
    return scene.quiet(0, 600).says(620 + 900, 3600, "STOP")


def a6(d: Dial) -> Scene:
    scene = Scene("ten commits within a blink, then a pause; all is read at the end", 3600)
    scene.topic().members(0, "m1")
    offset, at = 0, 20.0
    while at < 3500:
        scene.end(at, offset + 10)
        for each in range(10):
            scene.commit(at + 0.02 + 0.0229 * each, offset + each + 1)
        offset, at = offset + 10, at + d.number(12, 8, 400)
    return scene.sound()


def a6waits(d: Dial) -> Scene:
    scene = Scene("ten commits within a blink, then a pause; half is still to be read", 3600)
    scene.topic().members(0, "m1")
    offset, at = 0, 20.0
    while at < 3500:
        scene.end(at, offset + 20)
        for each in range(10):
            scene.commit(at + 0.02 + 0.0229 * each, offset + each + 11)
        offset, at = offset + 10, at + d.number(20, 8, 110)
    return scene.sound(100)


def a7(d: Dial) -> Scene:
    takes, slow, backlog = d.number(2.4, 0.3, 6), d.number(47, 20, 150), 2500
    scene = Scene("commits after each message, has a backlog, and some messages are slow", 2400)
    scene.topic(end=backlog).members(0, "m1")
    at, offset = 0.0, 0
    while at < 2400 and offset < backlog:
        scene.commit(at, offset)
        offset += 1
        at += slow if offset % 40 == 0 else takes
    return scene.sound(60)


def a8(d: Dial) -> Scene:
    every = d.number(20, 5, 80)
    scene = Scene("two groups, one works twice as long before it commits", 4800)
    scene.topic().grow(0, d.number(30, 1, 2000))
    for group, times in (("billing", 1), ("archive", 2)):
        scene.members(0, "m1", group=group)
        scene.follow(0, 4800, times * every, group=group, dial=d).sound(group=group)
    return scene


def a8uneven(d: Dial) -> Scene:
    """It reads what is there, and commits when that is done: in seconds, or in two minutes."""
    chance = Random(d.whole(1, 1, 9999))  # noqa: S311 - no secrets
    scene, partitions = Scene("how late it is at a commit is chance", 7200), 12
    scene.topic(partitions).members(0, "m1")
    for partition in range(partitions):
        scene.grow(0, d.number(4, 1, 500), partition)
        at, read = 0.0, 0
        while at < 7000:
            there = scene.logs[TOPIC, partition].end_at(at)
            at += chance.uniform(5, 120)
            scene.commit(at, read := max(there, read), partition)
    return scene.sound()


def a9(d: Dial, *, misses: bool = True) -> Scene:
    period, works = d.number(600, 300, 1500), d.number(60, 30, 90)
    runs = 6
    last = 100 + (runs - 1) * period
    scene = Scene("a job wakes, drains the topic, leaves, and some day it does not come", 0)
    scene.topic().grow(0, d.number(3, 0.1, 300))
    for run in range(runs if misses else runs + 2):
        wakes = 100 + run * period
        scene.members(wakes, "m1").follow(wakes, wakes + works + 1, 5).members(wakes + works + 5)
    scene.until = last + 3.2 * period + 100
    scene.quiet(100 + 3 * period, last + period if misses else last + 3 * period)
    scene.says(100 + 3 * period, last + period, "OK")
    if misses:
        scene.told(last + period + 60, last + 3.1 * period)
    else:
        scene.until = last + 2.9 * period
    return scene


def a9runs(d: Dial) -> Scene:
    scene = a9(d, misses=False)
    scene.about = "a job wakes, drains the topic, leaves, and comes again"
    return scene


def a9schedule(d: Dial) -> Scene:
    """From the first run on, its policy says what is regular."""
    period = d.whole(600, 300, 1500)
    scene = Scene(
        "a job with a schedule is not late before it is", 0, policy={"schedule": f"{period}s"}
    )
    scene.topic().grow(0, 5)
    for run in range(3):
        wakes = 100 + run * period
        scene.members(wakes, "m1").follow(wakes, wakes + 61, 5).members(wakes + 65)
    scene.until = 100 + 5 * period
    last = 100 + 2 * period + 65
    return scene.quiet(0, last + period).told(last + period, last + 2 * period)


def a10(d: Dial) -> Scene:
    rate = d.number(100, 5, 1000)
    scene = Scene("batches, scale-downs, spikes; two of all that are faults", 9000)
    scene.topic().members(0, "m1").grow(0, rate)
    pace = 4 * rate
    spikes = [(1200, 4), (3000, 8)]
    for at, times in spikes:  # written quickly, read within minutes
        scene.grow(at, times * rate).grow(at + 90, rate)
    scene.grow(4200, 0).grow(4800, rate)
    pauses = [(2400, 2490), (3900, 3980), (5400, 6300), (7200, 7270), (8100, 9000)]
    begin = 0.0
    for stops, returns in pauses:
        scene.follow(begin, stops, 5, pace=pace)
        begin = returns
    scene.quiet(0, 5400).told(5400, 6000).quiet(6600, 8100).told(8100, 8700)
    return scene.says(6500, 8100, "OK").says(100, 5400, "OK")


def a11(d: Dial) -> Scene:
    every, between, pause = d.number(5, 1, 30), d.number(1800, 900, 2400), d.number(110, 60, 200)
    scene = Scene("a rolling deploy now and then: silent for a while; then it never comes back", 0)
    scene.topic(partitions=2)
    for each in (0, 1):
        scene.grow(0, d.number(20, 1, 2000), each)
    begin = 0.0
    for deploy in range(1, 5):
        stops = deploy * between
        for each in (0, 1):
            scene.follow(begin, stops, every, partition=each)
        scene.members(begin + 1, "m1", "m2")
        begin = stops + pause
    ends = begin + 300
    for each in (0, 1):
        scene.follow(begin, ends, every, partition=each)
    scene.until = ends + 1000
    scene.quiet(every * 4, ends).told(ends, ends + 900)
    return scene.says(ends + 900, scene.until, "STOP")


def a12(d: Dial) -> Scene:
    scene = Scene(
        "lag rises slowly for a quarter of an hour and clears by itself; it may be late",
        3000,
        policy={"max-time-lag": d.whole(300, 300, 900)},
    )
    rate = d.number(4.2, 1, 500)
    scene.topic(2).members(0, "m1").grow(0, rate).grow(0, rate, 1)
    for each, part in ((0, 0.97), (1, 0.9)):
        scene.follow(0, 1100, 5, pace=part * rate, partition=each)
        scene.follow(1100, 3000, 5, pace=1.5 * rate, partition=each)
    return scene.sound(60)


def a12twin(d: Dial) -> Scene:
    """Later than its policy allows."""
    limit = d.whole(300, 120, 600)
    scene = Scene("lag rises until it is later than it may be", 0, policy={"max-time-lag": limit})
    rate = d.number(50, 5, 2000)
    late = 600 + limit / 0.25
    scene.until = late + 1200
    scene.topic().members(0, "m1").grow(0, rate).follow(0, 600, 5).follow(
        600, scene.until, 5, pace=0.75 * rate
    )
    scene.quiet(0, late - 30).told(late - 30, late + 90)
    return scene.says(late + 90, scene.until, "WARN").says(60, late - 30, "OK")


def a13(d: Dial) -> Scene:
    between, drains = d.number(3600, 1200, 3600), d.number(600, 60, 850)
    pace = d.number(100, 5, 2000)
    count = int(pace * drains)
    scene = Scene("a burst now and then is read within minutes", 9000)
    scene.topic().members(0, "m1")
    at, total = 300.0, 0
    while at < 8000:
        total += count
        scene.end(at, total).follow(at, at + drains + 20, 5, pace=pace)
        if at == 300:
            scene.lag(at + 0.5 * drains + 2.5)
        at += between
    return scene.sound(300)


def a13ramp(d: Dial) -> Scene:
    """More and more is written: its lag rises, and it is always as late."""
    behind, every = d.one_of(70, 90, 120, 300), d.one_of(60, 5, 300)
    top = d.number(1000, 20, 5000)
    scene = Scene("always as late, while traffic rises for an hour", 7200)
    scene.topic().members(0, "m1").grow(0, top / 100)
    for at in range(1800, 5400, 60):
        scene.grow(at, top / 100 + top * (at - 1800) / 3600)
    scene.follow(0, 7200, every, behind_s=behind)
    return scene.quiet(600, 7200).says(600, 7200, "OK")


def a13sine(d: Dial) -> Scene:
    scene = Scene("always as late, while traffic goes up and down", 10800)
    rate, swing, wave = d.number(100, 2, 2000), d.number(0.9, 0.3, 0.95), d.number(7200, 2400, 9000)
    scene.topic().members(0, "m1")
    for at in range(0, 10800, 60):
        scene.grow(at, round(rate * (1 + swing * math.sin(2 * math.pi * at / wave)), 3))
    scene.follow(0, 10800, d.number(10, 2, 60), behind_s=d.number(90, 5, 200))
    return scene.sound(300)


def a14(d: Dial) -> Scene:
    every, refresh = d.number(600, 60, 1800), d.one_of(10, 5, 60)
    commits = 12
    ends = commits * every
    scene = Scene("commits on checkpoints only; then it stops", 0, refresh_s=refresh)
    scene.until = ends + max(1000, 3 * every)
    scene.topic().members(0, "m1").grow(0, d.number(50, 1, 3000))
    scene.follow(0, ends + 1, every, behind_s=0.4)
    scene.quiet(4 * every, ends + every).says(4 * every, ends + every, "OK")
    return scene.told(ends + every, ends + max(700, 3 * every))


def a15(d: Dial) -> Scene:
    scene = Scene("nobody writes for ten minutes at night", 5400, refresh_s=d.one_of(10, 30))
    pause = d.number(600, 300, 1800)
    scene.topic().members(0, "m1").grow(0, d.number(5, 0.1, 500)).grow(1800, 0).grow(
        1800 + pause, 5
    )
    every = d.number(5, 1, 30)
    scene.follow(0, 1800 + 2 * every, every)
    if d.chance(usual=True):
        scene.stand(1800 + 2 * every, 1800 + pause, every)
    return scene.follow(1800 + pause, 5400, every).sound()


def a_newcomer(d: Dial) -> Scene:
    """The first minutes of a group, in a topic that has long been written."""
    scene = Scene("a new group begins at the end of a busy topic", 3600)
    rate, joins = d.number(50, 0.5, 3000), 1200.0
    scene.topic(3, start=5, end=10**6)
    for each in range(3):
        scene.grow(0, rate, each)
        end = scene.logs["orders", each].end_at(joins)
        scene.follow(joins, 3600, d.number(5, 1, 60), at=end, partition=each)
    return scene.members(joins, "m1").sound()


def a_rare_partition(d: Dial) -> Scene:
    """Of many partitions one has no records for hours; then some, which are read."""
    scene = Scene("one of many partitions is written now and then", 7200)
    scene.topic(12).members(0, "m1", "m2")
    for each in range(11):
        scene.grow(0, 20, each).follow(0, 7200, 10, partition=each)
    total = 0
    for at in range(300, 7000, d.whole(1800, 400, 3000)):
        total += 3
        scene.end(at, total, 11).commit(at + d.number(20, 1, 100), total, 11)
    return scene.sound()
