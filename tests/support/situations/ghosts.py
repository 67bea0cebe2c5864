"""Groups, members and topics that are gone, and must not be spoken of as if they were not."""

from support.scene import Dial, Scene

TOPICS = (["orders", "payments"], ["payments"])  # subscribed to before a move, and after


def _two_topics(d: Dial, about: str, moves: float) -> Scene:
    scene = Scene(about, 5400)
    scene.topic(2).topic(2, name="payments").members(0, "m1", topics=("orders", "payments"))
    for each in (0, 1):
        rate, every = d.number(20, 1, 500), d.number(5, 1, 30)
        scene.grow(0, rate, each).grow(0, rate, each, "payments")
        scene.follow(0, moves, every, partition=each)
        scene.follow(0, 5400, every, partition=each, topic="payments")
        scene.says(moves, 5400, "OK", partition=each, topic="payments")
    return scene


def f1(d: Dial) -> Scene:
    moves = d.number(900, 400, 1800)
    scene = _two_topics(d, "moves to another topic; the old one goes on being written", moves)
    scene.members(moves + 2, "m2", topics=("payments",)).quiet(0, 5400)
    return scene.says(moves + 200, 5400, "LEFT").says(moves + 200, 5400, "LEFT", partition=1)


def f1twin(d: Dial) -> Scene:
    moves = d.number(900, 400, 1800)
    scene = _two_topics(d, "subscribes to both, reads one only", moves)
    half = {"payments": [0, 1]}
    scene.members(moves + 2, "m2", topics=("payments", "orders"), assigned={"m2": half})
    return scene.told(moves, moves + 800).says(moves + 800, 5400, "STOP").quiet(0, moves)


def f1empty(d: Dial) -> Scene:
    """A group without members has not left its topics: its consumers are down."""
    moves = d.number(900, 400, 1800)
    scene = Scene("subscribed to two topics, and all members are gone", 4200)
    scene.topic().topic(name="payments").members(0, "m1", topics=("orders", "payments"))
    for topic in ("orders", "payments"):
        scene.grow(0, 20, 0, topic).follow(0, moves, 5, topic=topic)
        scene.says(moves + 600, 4200, "STOP", topic=topic)
    return scene.members(moves + 2).told(moves, moves + 600)


def f1deploy(d: Dial) -> Scene:
    """What it has left stays left while a deployment takes all members away."""
    moves, empty, back = d.number(900, 400, 1500), 3000.0, 3000 + d.number(110, 20, 180)
    scene = Scene("moves to another topic; later all members are down for a while", 5400)
    scene.topic().topic(name="payments").members(0, "m1", topics=("orders", "payments"))
    rate = d.number(20, 1, 500)
    for topic, until in (("orders", moves), ("payments", empty)):
        scene.grow(0, rate, 0, topic).follow(0, until, 5, topic=topic)
    scene.members(moves + 2, "m2", topics=("payments",)).members(empty)
    scene.members(back - 10, "m3", topics=("payments",)).follow(back, 5400, 5, topic="payments")
    scene.says(moves + 200, 5400, "LEFT").says(back + 60, 5400, "OK", topic="payments")
    return scene.quiet(0, 5400)


def f1surge(d: Dial) -> Scene:
    """New members come before the old ones go."""
    moves, takes = d.number(900, 400, 1500), d.number(60, 5, 400)
    scene = _two_topics(d, "moves to another topic, member by member", moves)
    scene.members(moves - takes, "m1", "m2", topics=("payments", "orders"))
    old, new = ({"client": "app", "host": "/10.0.0.1", "subscribed": each} for each in TOPICS)
    scene.happens(moves - takes + 1, "members", "billing", {"m1": old, "m2": new})
    scene.happens(moves + 1, "members", "billing", {"m2": new}).quiet(0, 5400)
    return scene.says(moves + 200, 5400, "LEFT")


def f1alone(d: Dial) -> Scene:
    """Nobody decided it: who alone subscribed to the topic is gone."""
    dies = d.number(905, 700, 1500)
    scene = Scene("each member subscribes to a topic of its own, and one of them dies", 3600)
    scene.topic().topic(name="payments")
    members = {
        name: {"client": name, "host": f"/{name}", "subscribed": [name], "assigned": {name: [0]}}
        for name in ("orders", "payments")
    }
    scene.happens(0, "members", "billing", members)
    scene.happens(dies + 2, "members", "billing", {"orders": members["orders"]})
    for topic, until in (("orders", 3600), ("payments", dies)):
        scene.grow(0, d.number(10, 1, 500), 0, topic).follow(0, until, 5, topic=topic)
    scene.told(dies, dies + 600).says(60, 3600, "OK")
    return scene.says(dies + 600, 3600, "STOP", topic="payments")


def f2(d: Dial) -> Scene:
    """Groups that assign their partitions have no members that we could see."""
    scene = Scene("a group with assign() is deleted: its offsets are forgotten", 4200)
    scene.topic(3)
    for each in range(3):
        scene.grow(0, d.number(10, 1, 500), each).follow(0, 900, 5, partition=each)
        scene.says(100, 900, "OK", partition=each)
        scene.happens(1000, "forget", "billing", "orders", each)
    return scene.quiet(0, 4200)


def f2twin(d: Dial) -> Scene:
    """Without members, and silent: that is no topic it has left."""
    stops = d.number(900, 400, 1800)
    scene = Scene("a group with assign() dies", 4200)
    scene.topic().grow(0, d.number(10, 1, 500)).follow(0, stops, 5).quiet(0, stops)
    return scene.told(stops, stops + 600).says(stops + 600, 4200, "STOP")


def f3(d: Dial) -> Scene:
    scene = Scene("a group is deleted, and another day made again", 5400)
    scene.topic().members(0, "m1").grow(0, d.number(10, 1, 500)).follow(0, 900, 5)
    scene.members(905).happens(1000, "delete", "billing").quiet(0, 3600)
    end = scene.logs["orders", 0].end_at(3600)
    scene.members(3600, "m2").follow(3600, 5400, 5, at=end)
    return scene.says(100, 900, "OK").says(3640, 5400, "OK").quiet(3600, 5400)


def f3stopped(d: Dial) -> Scene:
    """It had been told of; with the group, the incident ends."""
    scene = Scene("a group that has stopped is deleted", 3600)
    scene.topic().members(0, "m1").grow(0, d.number(10, 1, 500)).follow(0, 900, 5).members(905)
    scene.told(900, 1500).happens(2400, "delete", "billing")
    return scene.says(1500, 2390, "STOP").quiet(2430, 3600)


def f4(d: Dial) -> Scene:
    scene = Scene("every member is restarted with a new client id", 3600)
    scene.topic(2).members(0, "m1", "m2")
    for each in (0, 1):
        scene.grow(0, d.number(10, 1, 500), each).follow(0, 1200, 5, partition=each)
        scene.follow(1230, 3600, 5, partition=each).lag(3502.5, each)
    return scene.members(1210, "m3").members(1220, "m3", "m4").sound(60)


def f5(d: Dial) -> Scene:
    scene = Scene("all was read, the group is inactive, nothing is written", 5400)
    scene.topic(end=d.whole(800, 1, 10**6)).members(0, "m1")
    scene.commit(5, scene.topics["orders"]["end"]).stand(5, 600, 5).members(700)
    return scene.lag(5000).age(5000).sound()
