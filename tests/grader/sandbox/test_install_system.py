"""The script that installs what is no Python package, with package managers that are made up."""

import subprocess

import pytest

from grader.course.paths import ROOT

SCRIPT = ROOT / "grader" / "install_system.sh"
FOUND = """#!/bin/sh
echo "$@" >> {folder}/asked
[ "$1" = update ] && exit 0
printf '#!/bin/sh\\n' > {folder}/{program}
/bin/chmod +x {folder}/{program}
"""


def program(folder, name, text="#!/bin/sh\n"):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def run(folder, *arguments):
    return subprocess.run(
        ["/bin/sh", SCRIPT, *arguments],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    program(tmp_path, "id", "#!/bin/sh\necho 0\n")
    return tmp_path


@pytest.mark.parametrize(
    ("package", "name"),
    [("bubblewrap", "bwrap"), ("chromium", "google-chrome"), ("postgresql", "postgres")],
)
def test_what_is_there_is_left_alone(folder, package, name):
    program(folder, name)
    program(folder, "apt-get", FOUND.format(folder=folder, program=name))
    done = run(folder, package)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (folder / "asked").exists()


@pytest.mark.parametrize(("package", "name"), [("bubblewrap", "bwrap"), ("chromium", "chromium")])
def test_what_is_missing_is_installed(folder, package, name):
    program(folder, "apt-get", FOUND.format(folder=folder, program=name))
    done = run(folder, package)
    assert (done.returncode, done.stderr) == (0, f"installing {package}\n")
    assert (folder / "asked").read_text().splitlines()[-1].endswith(package)


def test_a_failure_is_told_and_stops_nothing(folder):
    program(folder, "dnf", "#!/bin/sh\nexit 1\n")
    done = run(folder, "chromium")
    assert done.returncode == 0
    assert "run `sudo dnf install -y chromium`" in done.stderr


def test_who_may_not_install_is_told_the_command(folder):
    program(folder, "id", "#!/bin/sh\necho 1000\n")
    program(folder, "apk", FOUND.format(folder=folder, program="bwrap"))
    done = run(folder, "bubblewrap")
    assert done.returncode == 0 and not (folder / "asked").exists()
    assert "sudo apk add bubblewrap" in done.stderr and "--sandbox off" in done.stderr


def test_no_package_manager_is_told(folder):
    assert "no known package manager" in run(folder, "chromium").stderr
    assert run(folder, "emacs").returncode == 2
