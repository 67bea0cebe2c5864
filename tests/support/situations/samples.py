"""Samples that lie: ends and commits that were read at different times, or not at all."""

from support.scene import Dial, Scene


def g1(d: Dial) -> Scene:
    away, lasts = 902.0, d.number(300, 60, 1200)
    scene = Scene(
        "no broker answers for some minutes; everything was fine and is fine", away + lasts + 1800
    )
    rate, every = d.number(50, 1, 2000), d.number(5, 1, 60)
    scene.topic(2).members(0, "m1")
    scene.happens(away, "broker", "away").happens(away + lasts, "broker", "back")
    for each in (0, 1):
        scene.grow(0, rate, each).grow(away, 0, each).grow(away + lasts, rate, each)
        scene.follow(0, away, every, partition=each).follow(
            away + lasts, scene.until, every, partition=each
        )
        scene.says(away + lasts + 2 * every + 40, scene.until, "OK", partition=each)
    return scene.quiet(0, scene.until)


def g1unseen(d: Dial) -> Scene:
    """Only we cannot see: producer and reader go on."""
    away, lasts = 902.0, d.number(300, 60, 1200)
    scene = Scene("the monitor sees nothing for minutes; all goes on", away + lasts + 1800)
    scene.happens(away, "broker", "away").happens(away + lasts, "broker", "back")
    scene.topic().members(0, "m1").grow(0, d.number(50, 1, 2000)).follow(
        0, scene.until, d.number(5, 1, 60)
    )
    scene.says(away + lasts + 60, scene.until, "OK")
    return scene.quiet(0, scene.until)


def g1dies(d: Dial) -> Scene:
    """The reader does not come back with the brokers."""
    away, lasts = 902.0, d.number(300, 60, 1200)
    back = away + lasts
    scene = Scene("no broker answers for minutes, and the reader does not come back", back + 1800)
    scene.happens(away, "broker", "away").happens(back, "broker", "back")
    rate = d.number(50, 1, 2000)
    scene.topic().members(0, "m1").grow(0, rate).grow(away, 0).grow(back, rate).follow(0, away, 5)
    scene.quiet(0, back).told(back, back + 700)
    return scene.says(back + 700, scene.until, "STOP")


def g1stopped(d: Dial) -> Scene:
    """It had stopped before: that stays what was said last, and nobody is told twice."""
    away, lasts = 1802.0, d.number(400, 60, 1200)
    scene = Scene("a group has stopped, then no broker answers for minutes", away + lasts + 1200)
    scene.happens(away, "broker", "away").happens(away + lasts, "broker", "back")
    rate = d.number(50, 1, 2000)
    scene.topic().members(0, "m1").grow(0, rate).grow(away, 0).grow(away + lasts, rate).follow(
        0, 900, 5
    )
    scene.told(900, 1500).says(1500, away, "STOP").says(away, away + lasts + 60, "STOP", "STALE")
    return scene.says(away + lasts + 60, scene.until, "STOP")


def g1leaderless(d: Dial) -> Scene:
    """One partition has no leader for a while: what was said of it before stays open."""
    away, lasts = d.number(2002, 1900, 2400), d.number(600, 200, 900)
    scene = Scene("a partition that is not read any more has no leader for minutes", 4000)
    scene.topic(2).members(0, "m1")
    for each in (0, 1):
        scene.grow(0, d.number(10, 1, 500), each)
        scene.follow(0, 900 if each else 4000, 5, partition=each)
    scene.happens(away, "leader", "orders", 1, "away")
    scene.happens(away + lasts, "leader", "orders", 1, "back")
    scene.told(900, 1500).says(1500, 4000, "STOP", "STALE", partition=1)
    return scene.says(60, 4000, "OK")


def g2(d: Dial) -> Scene:
    refresh = d.one_of(30, 10, 60)
    scene = Scene("ends are read before commits", 1800, refresh_s=refresh)
    scene.topic(3).members(0, "m1")
    for each in range(3):
        scene.grow(0, d.number(40, 1, 1000), each).follow(0, 1800, 1, partition=each)
        for at in (607.3, 1202.5, 1777.7):
            scene.lag(at, each).age(at, each)
    return scene.sound(100)


def g3(d: Dial) -> Scene:
    rate, behind = d.number(400, 20, 5000), d.number(2.2, 0.5, 8)
    scene = Scene(
        "commits much faster than ends are read; it trails by a little",
        1800,
        refresh_s=d.one_of(10, 5, 30, 60),
    )
    scene.topic(4).members(0, "m1")
    for each in range(4):
        scene.grow(0, rate, each).follow(
            0, 1800, d.number(1, 0.5, 4), behind_s=behind, partition=each
        )
        for at in (900.4, 1503.6, 1788.8):
            scene.lag(at, each).age(at, each)
    return scene.sound(100)


def g5(d: Dial) -> Scene:
    """Old commits come all at once, and the only log ends there are are those of now."""
    back, rate = d.number(1801, 301, 3602), d.number(50, 1, 2000)
    scene = Scene("the monitor can read nothing at first; all is fine", back + 2400)
    scene.happens(0, "broker", "away").happens(back, "broker", "back")
    scene.topic(2).members(0, "m1")
    for each in (0, 1):
        scene.grow(0, rate, each).follow(0, scene.until, d.number(5, 1, 60), partition=each)
        scene.says(back + 60, scene.until, "OK", partition=each).lag(back + 1805, each)
    return scene.quiet(0, scene.until)


def g5stopped(d: Dial) -> Scene:
    """It stopped while nobody could look, and does not come back."""
    back, stops = d.number(1802, 1202, 3603), d.number(600, 300, 900)
    scene = Scene(
        "the monitor can read nothing at first; a group has stopped meanwhile", back + 1500
    )
    scene.happens(0, "broker", "away").happens(back, "broker", "back")
    scene.topic().members(0, "m1").grow(0, d.number(20, 1, 1000)).follow(0, stops, 5)
    scene.quiet(0, back).told(back, back + 900)
    return scene.says(back + 900, scene.until, "STOP")


def g5behind(d: Dial) -> Scene:
    back, rate = d.number(901, 601, 1803), d.number(50, 5, 2000)
    scene = Scene("the monitor can read nothing at first; a group falls behind", back + 3600)
    scene.happens(0, "broker", "away").happens(back, "broker", "back")
    scene.topic().members(0, "m1").grow(0, rate)
    scene.follow(0, scene.until, d.number(5, 1, 30), pace=0.6 * rate)
    return scene.quiet(0, back).told(back, back + 1800).says(back + 1800, scene.until, "WARN")


def g7(d: Dial) -> Scene:
    group = "eu:billing/v2"
    scene = Scene("a name with a colon; a rebalance takes a while", 2400)
    scene.topic(2).members(0, "m1", group=group)
    for each in (0, 1):
        scene.grow(0, d.number(20, 1, 500), each).follow(0, 1200, 5, partition=each, group=group)
        scene.follow(1260, 2400, 5, partition=each, group=group)
    for number in range(6):
        scene.members(1200 + 9 * number, "m1", f"m{number + 2}", group=group)
    return scene.sound(60, group=group)
