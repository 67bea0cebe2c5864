"""Secrets that stand in files of their own, as containers and systemd hand them over."""

from pathlib import Path

from support.config_files import load_text, problems_of

LOGIN = """
[client-profile.p]
sasl = "s"
[cluster.c]
class-name = "kafka"
servers = ["h:9092"]
client-profile = "p"
[sasl.s]
username = "u"
"""


def test_a_secret_is_taken_from_a_file_without_the_end_of_its_line(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(" pass word \n")

    loaded = load_text(tmp_path, f"{LOGIN}password-file = '{file}'\n")

    assert loaded.config.sasl["s"].password.reveal() == " pass word "
    assert loaded.origins["sasl.s.password"] == "file, as password-file"
    assert (loaded.unknown, loaded.warnings) == ([], [])


def test_the_environment_can_name_the_file_and_beats_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("from the file")
    variable = {"BURROW_SASL_S_PASSWORD_FILE": str(file)}
    text = f"{LOGIN}password = 'written down'\n"

    cases = {
        "from the file": variable,
        "given": variable | {"BURROW_SASL_S_PASSWORD": "given"},
        "written down": {},
    }
    seen = {
        expected: load_text(tmp_path, text, environ).config.sasl["s"].password.reveal()
        for expected, environ in cases.items()
    }

    assert seen == {expected: expected for expected in cases}


def test_a_file_that_will_not_do_is_told_and_nothing_else(tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing", tmp_path / "empty"
    empty.write_text("\n")

    told = {
        file: problems_of(tmp_path, f"{LOGIN}password-file = '{file}'\n")
        for file in (missing, empty)
    }

    assert told == {
        missing: [
            (
                f'sasl.s.password-file: "{missing}" cannot be read: No such file or directory; '
                "must be a file with the password"
            )
        ],
        empty: [f'sasl.s.password-file: "{empty}" is empty; must hold the password'],
    }
