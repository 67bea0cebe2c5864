"""Offsets that jump: back, beyond the end, or in a topic that was made anew."""

from support.scene import Dial, Scene


def e1(d: Dial) -> Scene:
    every, back, rate = d.number(5, 2, 20), 900.0, d.number(10, 1, 1000)
    scene = Scene("goes back once, and reads its way up again", 4200)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, back, every)
    was = scene.logs["orders", 0].commits["billing"][-1][1]
    scene.follow(back, 4200, every, at=int(0.6 * was), pace=d.number(3, 2, 6) * rate)
    commits = scene.logs["orders", 0].commits["billing"]
    again = next(at for at, offset in commits if at > back and offset >= was)
    scene.told(back, back + 3 * every + 45)
    if again > back + 3 * every + 60:
        scene.says(back + 3 * every + 20, again - 10, "REWIND")
    return scene.says(again + 20, 4200, "OK").quiet(again + 30, 4200).quiet(0, back)


def e2(d: Dial) -> Scene:
    every, rate = d.number(5, 2, 60), d.number(10, 1, 1000)
    scene = Scene("one lower commit now and then, made good by the next", 3600)
    scene.topic(3).members(0, "m1")
    for each in range(3):
        scene.grow(0, rate, each).follow(0, 900, every, partition=each)
        was = scene.logs["orders", each].commits["billing"][-1][1]
        scene.commit(902, max(was - d.whole(29, 1, 2000), 0), each).commit(
            902 + 0.6 * every, was, each
        )
        scene.follow(902 + 0.6 * every, 3600, every, partition=each)
    return scene.sound(every * 3)


def e2idle(d: Dial) -> Scene:
    """The same of a group that has read all: nothing more is written."""
    scene = Scene("one lower commit after a restart; nothing else is written", 2400)
    scene.topic(end=6413737).members(0, "m1").commit(1, 6413737).stand(1, 900, 5)
    scene.commit(902, 6413708).commit(902 + d.number(4, 1, 10), 6413737).stand(910, 2400, 5)
    return scene.sound()


def e3(d: Dial) -> Scene:
    rate, back = d.number(10, 1, 500), 1800.0
    scene = Scene("reset to earliest: all is read again", 4800)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, back, 5)
    was = scene.logs["orders", 0].commits["billing"][-1][1]
    scene.members(back + 1, "m2").follow(back, 4800, 5, at=0, pace=d.number(3, 2, 10) * rate)
    again = next(
        at
        for at, offset in scene.logs["orders", 0].commits["billing"]
        if at > back and offset >= was
    )
    scene.told(back, back + 60).says(back + 30, again - 10, "REWIND").quiet(0, back)
    return scene.says(again + 20, 4800, "OK").quiet(again + 30, 4800)


def e4(d: Dial) -> Scene:
    scene = Scene("an idle group's offsets expire; after a restart it reads all again", 3600)
    end, every = d.whole(5000, 100, 10**6), d.number(5, 2, 20)
    scene.topic(end=end).members(0, "m1").commit(5, end).stand(5, 300, 5).members(305)
    scene.happens(1200, "forget", "billing", "orders", 0)
    scene.members(2400, "m2").follow(2400, 3600, every, at=0, pace=end / 600)
    scene.says(60, 1190, "OK").quiet(0, 2400).told(2400, 2400 + 3 * every + 45)
    scene.says(2400 + 3 * every + 45, 2990, "REWIND")
    return scene.says(3030, 3600, "OK").quiet(3040, 3600)


def e4deleted(d: Dial) -> Scene:
    """Whoever deletes a group wants it to begin afresh."""
    scene = Scene("a group is deleted and made anew; it reads all again", 3600)
    end = d.whole(5000, 100, 10**6)
    scene.topic(end=end).members(0, "m1").commit(5, end).stand(5, 300, 5).members(305)
    scene.happens(1200, "delete", "billing")
    scene.members(2400, "m2").follow(2400, 3600, 5, at=0, pace=end / 600)
    return scene.says(60, 1190, "OK").says(2440, 3600, "OK").quiet(0, 3600)


def e4skips(d: Dial) -> Scene:
    """It begins at the end again: that is no step back."""
    rate, every = d.number(10, 1, 1000), d.number(5, 1, 30)
    scene = Scene("a group's offsets expire while it has stopped; it goes on at the end", 4800)
    scene.topic().members(0, "m1").grow(0, rate).follow(0, 300, every).members(305)
    scene.told(300, 1000).happens(1200, "forget", "billing", "orders", 0)
    end = scene.logs["orders", 0].end_at(2400)
    scene.members(2400, "m2").follow(2400, 4800, every, at=end).quiet(1240, 4800)
    return scene.says(2440 + every, 4800, "OK")


def e5(d: Dial) -> Scene:
    end, at = d.whole(9000, 100, 10**7), d.number(605, 300, 1200)
    scene = Scene(
        "data loss at the broker: the commit lies beyond the log end",
        2400,
        refresh_s=d.one_of(10, 5, 30),
    )
    scene.topic(2, end=end).members(0, "m1")
    for each in (0, 1):
        scene.commit(5, end, each).stand(5, 2400, d.number(5, 1, 60), partition=each)
    scene.end(at, int(end * 0.45), 1).told(at, at + 300).quiet(0, at)
    return scene.says(at + 200, 2400, "AHEAD", partition=1).says(60, 2400, "OK")


def e5writes(d: Dial) -> Scene:
    """Producers go on below the commit; the reader waits where it was."""
    scene = Scene("data loss; producers go on, the reader sees nothing of it", 3000)
    scene.topic().members(0, "m1").grow(0, 20).follow(0, 600, 5)
    at, ends = 602.0, scene.logs["orders", 0].commits["billing"][-1][1]
    rate = d.number(1, 0.1, 3)
    scene.end(at, ends // 2).grow(at, rate).stand(600, 3000, 5)
    passes = at + (ends - ends // 2) / rate
    return scene.told(at, at + 300).says(at + 120, min(passes - 60, 3000), "AHEAD")


def e6(d: Dial) -> Scene:
    scene = Scene(
        "a mirror wrote the source's offset for an empty target",
        2400,
        policy={"pages": ["STOP", "LOST"]},
    )
    scene.topic(end=0).commit(5, d.whole(10**6, 10, 10**8)).stand(5, 2400, 60)
    return scene.says(120, 2400, "AHEAD").quiet(0, 2400)


def e7(d: Dial) -> Scene:
    end = d.whole(1611, 10, 10**5)
    scene = Scene("seven partitions, all of them beyond the end", 1800)
    scene.topic(7, end=end).members(0, "m1")
    for each in range(7):
        scene.commit(5, end + 300 + 250 * each, each).stand(5, 1800, 10, partition=each)
        scene.says(120, 1800, "AHEAD", partition=each)
    return scene.told(0, 200)


def e8(d: Dial) -> Scene:
    """What is seen without topic ids: the log ends where it began."""
    scene = Scene("a topic is deleted and made anew; the group begins afresh", 3000)
    rate = d.number(20, 2, 500)
    scene.topic(2).members(0, "m1")
    for each in (0, 1):
        scene.grow(0, rate, each).follow(0, 900, 5, partition=each)
        scene.end(902, 0, each).grow(902, rate, each).follow(905, 3000, 5, partition=each, at=0)
        scene.says(960, 3000, "OK", partition=each)
    return scene.quiet(0, 890).quiet(960, 3000).lag(2802.5)


def e9(d: Dial) -> Scene:
    scene = Scene("made anew between two looks: a hundred records before, twenty after", 2400)
    old, new = d.whole(100, 50, 10**5), 20
    scene.topic(end=old).members(0, "m1").commit(5, old).stand(5, 600, 5)
    scene.end(603, new).commit(606, new).stand(606, 2400, 5)
    return scene.says(60, 600, "OK").says(660, 2400, "OK").quiet(0, 2400)
