"""Every word is told with the numbers that decided it."""

import msgspec
from support.scenario_run import Heard, Run
from support.situations import situations

from warren.evaluate import reasons
from warren.model.board import Board
from warren.model.judgement import Word
from warren.serve.v4.second_opinion import Evidence


class Keeper(Heard):
    """Keeps what was said of a word when it was said last."""

    def __init__(self, run: Run, word: Word) -> None:
        super().__init__("warren", run.scenarios)
        self.word = word
        self.why = ""
        self.evidence: dict[str, object] = {}

    def listen(self, board: Board, moment_s: float) -> None:
        super().listen(board, moment_s)
        judgement = board.clusters["c"].judgement
        assert judgement is not None
        for line, word in enumerate(judgement.word.tolist()):
            if word == self.word:
                self.why = reasons.why(judgement, line)
                if (figures := judgement.figures.of(line)) is not None:
                    self.evidence = msgspec.to_builtins(Evidence.of(judgement, line, figures))
                return


def said(name: str, word: Word) -> Keeper:
    """What was said when the situation had gone on for the longest."""
    (told,) = (each for each in situations() if each["id"] == name)
    run = Run([told])
    keeper = Keeper(run, word)
    run.heard = {"kept": keeper}
    run.until_the_end()
    return keeper


def test_every_word_says_its_numbers() -> None:
    cases = {
        ("c8", Word.NEVER): "A member holds the partition, or a policy names it, and nothing was "
        "ever committed; 3,000 messages wait.",
        ("f1", Word.LEFT): "The group has members, and none of them has subscribed to the topic "
        "since 2023-11-14T22:29:20Z; 90,100 messages wait.",
        ("b5", Word.BLOCKED): "All that readers of committed data may see is read; an open "
        "transaction has held back 1,440 messages since 2023-11-14T22:14:30Z.",
        ("d4", Word.WARN): "It reads more slowly than the log grows: it was 5 min late at "
        "2023-11-14T22:45:30Z and is 12 min late now; 72,080 messages wait.",
        ("d18", Word.WARN): "The oldest unread message is 23 min old, and its policy allows "
        "10 min; 271,500 messages wait.",
        ("d10", Word.STALL): "It commits the same offset while records wait, and has for 50 min; "
        "that is STALL after 4 min.",
        ("e1", Word.REWIND): "It went back and is not yet where it was, at offset 8,950.",
        ("d1", Word.STOP): "Records wait, and it has been silent for 52 min; that is STOP "
        "after 4 min.",
        ("d15", Word.STORM): "Its members join again and again, 30.3 generations a minute, and "
        "the offset has not moved for 40 min.",
        ("c9", Word.LOST): "Retention has taken 17,400 messages that it had not read: its last "
        "commit is 12,000, and the log begins at 29,400.",
        ("e5", Word.AHEAD): "Its last commit, 9,000, lies beyond the end of the log, 4,050: it "
        "would miss what is written.",
        ("g1leaderless", Word.STALE): "Our own data have been too old to say anything since "
        "2023-11-14T22:46:40Z; before, it was STOP.",
    }

    own: dict[Word, dict[str, object]] = {
        Word.STALL: {"held_s": 3000, "limit_s": 240},
        Word.REWIND: {"former": 8950},
        Word.STOP: {"silent_s": 3100, "limit_s": 240},
        Word.STORM: {"held_s": 2400},
        Word.STALE: {"before": "STOP"},
    }
    kept = {each: said(*each) for each in cases}

    assert {each: keeper.why for each, keeper in kept.items()} == cases
    for (_, word), keeper in kept.items():
        assert keeper.evidence.keys() >= {"records", "log_start", "log_end"}
        assert own.get(word, {}).items() <= keeper.evidence.items(), keeper.evidence
