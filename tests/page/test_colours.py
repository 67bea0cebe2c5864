"""Colours that people who see few of them can tell apart."""

import itertools
import re

import numpy as np

from warren.model.arrays import Floats
from warren.serve.page_files import FOLDER

# What is seen of linear RGB (Machado, Oliveira and Fernandes, 2009, severity 1).
SEEN = {
    "everything": np.eye(3),
    "no red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.01182, 0.04294, 0.968881],
        ]
    ),
    "no blue": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.3039],
        ]
    ),
}
XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
) / np.array([[0.9505], [1.0], [1.089]])
APART = 20  # of CIE 1976: neighbouring cells differ at a glance


def linear(colour: str) -> Floats:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: Floats) -> Floats:
    x, y, z = XYZ @ np.clip(light, 0, 1)
    x, y, z = (np.cbrt(each) if each > 0.008856 else 7.787 * each + 16 / 116 for each in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_statuses_are_told_apart_in_both_themes() -> None:
    style = (FOLDER / "warren.css").read_text()
    cells = re.findall(r"--(cell-\w+|raised): light-dark\((#\w+), (#\w+)\)", style)
    wrong = []
    for theme, column in (("light", 1), ("dark", 2)):
        for who, seen in SEEN.items():
            looks = {each[0]: lab(seen @ linear(each[column])) for each in cells}
            for one, other in itertools.combinations(looks, 2):
                apart = float(np.linalg.norm(looks[one] - looks[other]))
                if apart < APART:
                    wrong.append((theme, who, one, other, round(apart, 1)))

    assert len(cells) == 6
    assert wrong == []
