"""Time lag: the truth is the age of the oldest unread record."""

from support.scene import Dial, Scene


def h1(d: Dial) -> Scene:
    work, every = d.number(2700, 900, 3000), d.number(5, 1, 30)
    backlog = d.whole(1_000_000, 10_000, 10**8)
    scene = Scene("a new group replays a topic from its start", 4800)
    scene.topic(end=backlog).members(0, "m1").grow(0, d.number(5, 0.5, 20))
    scene.follow(10, 4800, every, pace=backlog / work)
    return scene.lag(1203.3).sound()


def h2(d: Dial) -> Scene:
    rises, times = 1800.0, d.number(5, 3, 8)
    low, pace = d.number(1, 0.2, 20), d.number(1000, 200, 3000)
    scene = Scene("a sudden ramp of messages", 3600, refresh_s=d.one_of(10, 30))
    scene.topic().members(0, "m1").grow(0, low).grow(rises, times * pace)
    scene.follow(0, 3600, 5, pace=pace).quiet(0, rises).told(rises + 60, 3600)
    for at in (2402.2, 3003.3, 3599.0):
        scene.age(at).lag(at)
    return scene


def h3(d: Dial) -> Scene:
    scene = Scene("little traffic, everything is read at once", 2400, refresh_s=d.one_of(30, 60))
    scene.topic().members(0, "m1").grow(0, d.number(0.25, 0.05, 2)).follow(0, 2400, 1, behind_s=0.2)
    for at in (903.5, 1517.1, 2333.3):
        scene.age(at)
    return scene.sound(60)


def h4(d: Dial) -> Scene:
    stops, ends = 500.0, 600.0
    scene = Scene(
        "nothing is written for an hour; the group stopped before the end",
        4800,
        refresh_s=d.one_of(10, 30),
    )
    scene.topic().members(0, "m1").grow(0, d.number(10, 1, 1000)).grow(ends, 0)
    scene.follow(0, stops, d.number(5, 1, 20), behind_s=d.number(3, 0.1, 20)).told(stops, 1400)
    for at in (1201, 2402, 4003):
        scene.age(at).lag(at)
    return scene


def h5(d: Dial) -> Scene:
    wiped, rate = 1800.0, d.number(17, 5, 500)
    scene = Scene("offsets begin again after a wipe", 3600)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, wiped, 5, behind_s=10)
    scene.end(wiped + 2, 0).grow(wiped + 2, rate).follow(wiped + 15, 3600, 5, behind_s=10, at=0)
    scene.says(wiped + 90, 3600, "OK").quiet(wiped + 90, 3600).quiet(0, wiped)
    for at in (2405.7, 3599.1):
        scene.age(at).lag(at)
    return scene


def h6(d: Dial) -> Scene:
    rate, part = d.number(100, 20, 2000), d.number(0.25, 0.1, 0.5)
    scene = Scene("hours behind, at a steady pace", 9000)
    scene.topic().members(0, "m1").grow(0, rate).follow(
        0, 9000, d.number(30, 5, 60), pace=part * rate
    )
    for at in (3605, 6008, 8995):
        scene.age(at).lag(at)
    return scene.told(300, 3600)


def h7(d: Dial) -> Scene:
    scene = Scene("a record a minute, read after a moment", 3600)
    scene.topic().members(0, "m1")
    at, count, takes = 30.0, 0, d.number(2, 0.3, 15)
    while at < 3590:
        count += 1
        scene.end(at, count).commit(at + takes, count)
        at += d.number(60, 20, 300)
    return scene.age(1811).age(3599.5).sound()


def h10(d: Dial) -> Scene:
    end = d.whole(700, 1, 10**7)
    scene = Scene("caught up, nothing produced", 5400, refresh_s=d.one_of(10, 5, 60))
    scene.topic(2, end=end).members(0, "m1").commit(5, end).stand(5, 42, 5)
    scene.commit(7, end, 1).stand(7, 5400, 30, partition=1)
    return scene.lag(5300).age(5300).lag(5300, 1).age(5300, 1).sound()


def h11(d: Dial) -> Scene:
    """Behind by more than any cache of samples."""
    stops = d.number(900, 600, 1800)
    scene = Scene("stopped hours ago", 10800, refresh_s=d.one_of(30, 60))
    scene.topic().members(0, "m1").grow(0, d.number(2, 0.2, 3000)).follow(0, stops, 5).members(
        stops + 5
    )
    for at in (5405, 7207, 10790):
        scene.age(at).lag(at)
    return scene.told(stops, stops + 700)
