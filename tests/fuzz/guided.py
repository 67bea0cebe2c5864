"""One target, guided by what parts of the code its bytes reach: see ./fuzz.

guided.py TARGET SECONDS CORPUS
"""

import sys
from pathlib import Path

import atheris
from fuzz.mutations import NUMBERS

with atheris.instrument_imports(include=["warren", "gotpl"]):
    from fuzz.targets import quiet, targets


def main(name: str, seconds: str, corpus: Path) -> None:
    target = targets()[name]
    corpus.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate(target.samples):
        (corpus / f"sample-{number}").write_bytes(sample)
    words = corpus.with_suffix(".words")
    lines = ("".join(f"\\x{byte:02x}" for byte in word) for word in (*target.words, *NUMBERS))
    words.write_text("".join(f'"{line}"\n' for line in lines))
    quiet()
    options = [f"-max_total_time={seconds}", f"-dict={words}", "-timeout=60", "-rss_limit_mb=4096"]
    shown = [f"-artifact_prefix={corpus}.failed-", "-print_final_stats=1", "-verbosity=1"]
    atheris.Setup([sys.argv[0], *options, *shown, str(corpus)], target.take)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
