"""What history holds is enough to say every word again, exactly."""

import numpy as np
import pyarrow.compute as pc
from support.scenario_history import KeptHistory

from warren.evaluate.word_rules import say
from warren.history.word_columns import has_words, recorded
from warren.model.judgement import Word
from warren.model.tables import PARTITION

SAID = {Word.OK, Word.WARN, Word.STALL, Word.REWIND, Word.STOP, Word.STORM, Word.AHEAD}


def test_with_the_settings_in_force_every_word_is_as_recorded(ruled: KeptHistory) -> None:
    rows = ruled.rows.filter(pc.field("kind") == PARTITION)

    found = recorded(rows)
    again = say(found.grounds, found.settings).word

    assert has_words(rows).all()
    wrong = np.flatnonzero(again != found.word)
    assert rows.take(wrong[:3]).to_pylist() == []
    assert {*np.unique(found.word).tolist()} >= SAID
    in_force = [{*np.unique(each[~np.isnan(each)]).tolist()} for each in found.settings]
    assert in_force == [{0, 100, 5000}, {180.0, 300.0}, {300.0}]
