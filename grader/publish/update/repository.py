"""An update of a clone: its branch gets what is upstream, and answers stay as uncommitted changes.

Who has committed answers gets a merge, as from `git pull`, in which those stand under the new statements.
"""

import io
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from grader.core.errors import KataError
from grader.publish.update import written
from grader.publish.update.backup import Backup
from grader.publish.update.git import Git
from grader.publish.update.held import LocalAnswer, held
from grader.publish.update.outcomes import outcomes
from grader.publish.update.report import Report

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_SETUP = {"pyproject.toml", "constraints.txt"}

Blobs = Mapping[str, tuple[str, str]]
"""The mode and the digest of each file of a commit, by path."""


def is_clone(root: Path) -> bool:
    """Whether this folder is a git repository of its own that came from elsewhere."""
    git = Git(root)
    top = git.asked("rev-parse", "--show-toplevel")
    return bool(top) and Path(top).resolve() == root and bool(git.asked("remote"))


def update(root: Path) -> Report:
    """Fetch, and bring what is upstream into the clone `root`.

    Raises:
        KataError: git cannot fetch, a merge is under way, or nothing is known of where this clone is from.
    """
    git = Git(root)
    _expect_nothing_under_way(git)
    source, new = _fetched(git)
    backup = Backup(root)
    if git.is_ancestor(new, "HEAD"):
        return Report(source, backup, is_new=False)
    with tempfile.TemporaryDirectory(prefix="kata-update-") as folder:
        course = _exported(git, new, Path(folder) / "new")
        target, replaced = new, list[str]()
        if not git.is_ancestor("HEAD", new):
            target, replaced = _merged(git, new, course, Path(folder), source)
        answers, before, fresh = list(outcomes(root, course)), held(root), held(course)
        was, now = git.blobs("HEAD"), git.blobs(target)
        tracked = git.names("diff", "--name-only", "-z", "--no-renames", "HEAD", "--")
        in_the_way = [path for path in now if path not in was and (root / path).is_file()]
        mine = {path: _read(root, path) for path in (*tracked, *in_the_way)}
        others = {path: file for path, file in mine.items() if not _is_answer(path, before.values())}
        stay = {path: file for path, file in others.items() if was.get(path) == now.get(path)}
        replaced += [
            path
            for path, file in others.items()
            if path not in stay and file is not None and file != _content(git, target, path, now)
        ]
        backup.keep(
            [*mine, *replaced, *(path for one in answers if not one.is_there(root) for path in one.was)]
        )
        try:
            _switch(git, target, [path for path in tracked if path in was], in_the_way)
        except BaseException:
            backup.put_back()
            raise
        written.answers(root, answers)
        written.files(root, stay)
    return Report(
        source,
        backup,
        answers,
        news=len(fresh.keys() - before.keys()),
        starts=sum(one.start != fresh[slug].start for slug, one in before.items() if slug in fresh),
        replaced=sorted(replaced),
        needs_setup=any(was.get(name) != now.get(name) for name in _SETUP),
    )


def _switch(git: Git, commit: str, changed: Sequence[str], in_the_way: Sequence[str]) -> None:
    """Let the branch have this commit, and the working tree with it."""
    git.run("reset", "-q")
    git.checkout(changed)
    for path in in_the_way:
        (git.root / path).unlink()
    git.run("merge", "-q", "--ff-only", commit)


def _expect_nothing_under_way(git: Git) -> None:
    folder = git.root / git.text("rev-parse", "--git-dir")
    if any((folder / name).exists() for name in _UNDER_WAY):
        raise KataError("a merge or rebase is under way here: finish it, or end it with git, and update then")


def _fetched(git: Git) -> tuple[str, str]:
    """What is upstream, as git calls it, and its commit."""
    remote, name = _upstream(git)
    git.run("fetch", "-q", remote)
    branch = name or _default(git, remote)
    return f"{remote}/{branch}", git.text("rev-parse", f"refs/remotes/{remote}/{branch}^{{commit}}")


def _upstream(git: Git) -> tuple[str, str]:
    """The remote that the course is from, and its branch: `upstream` of a fork, else what is tracked."""
    remotes = git.text("remote").split()
    here = git.asked("symbolic-ref", "--short", "HEAD")
    tracked = git.asked("config", f"branch.{here}.remote")
    if "upstream" in remotes and tracked != "upstream":
        return "upstream", ""
    if tracked in remotes:
        return tracked, git.asked("config", f"branch.{here}.merge").removeprefix("refs/heads/")
    return ("origin" if "origin" in remotes else remotes[0]), ""


def _default(git: Git, remote: str) -> str:
    """A remote's default branch."""
    head = git.asked("symbolic-ref", "--short", f"refs/remotes/{remote}/HEAD").removeprefix(f"{remote}/")
    here = git.asked("symbolic-ref", "--short", "HEAD")
    names = git.text("for-each-ref", "--format=%(refname:lstrip=3)", f"refs/remotes/{remote}").split()
    found = next((name for name in (head, "main", "master", here) if name and name in names), None)
    if found is None:
        raise KataError(
            f"{remote} has no branch main; `git branch -u {remote}/BRANCH` says which one to follow"
        )
    return found


def _exported(git: Git, commit: str, folder: Path) -> Path:
    """The exercises of a commit, in a folder of their own."""
    with tarfile.open(fileobj=io.BytesIO(git.run("archive", commit, "--", "exercises"))) as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(
            folder
        )
    return folder


def _is_answer(path: str, answers: Iterable[LocalAnswer]) -> bool:
    return any(one.holds(path) for one in answers)


def _read(root: Path, path: str) -> bytes | None:
    file = root / path
    return file.read_bytes() if file.is_file() else None


def _content(git: Git, commit: str, path: str, blobs: Blobs) -> bytes | None:
    """A file of a commit, as the working tree would have it."""
    return git.run("cat-file", "--filters", f"{commit}:{path}") if path in blobs else None


def _merged(git: Git, new: str, course: Path, folder: Path, source: str) -> tuple[str, list[str]]:
    """A commit of HEAD and upstream, and the files that both have changed, which are upstream's in it.

    It has all of upstream, and what HEAD has changed: answers, and files that upstream has left alone.
    """
    base = git.asked("merge-base", "HEAD", new)
    if not base:
        raise KataError(f"{source} shares no commit with this clone; `kata update --from DIR` takes a folder")
    mine = _exported(git, "HEAD", folder / "mine")
    was, here, there = (git.blobs(commit) for commit in (base, "HEAD", new))
    before = held(mine).values()
    changed = [path for path in {*was, *here} if was.get(path) != here.get(path)]
    others = [path for path in changed if not _is_answer(path, before)]
    index = folder / "index"
    git.run("read-tree", new, index=index)
    for path in others:
        if was.get(path) == there.get(path):
            _put(git, index, path, here.get(path))
    for one in outcomes(mine, course):
        for path, content in one.files.items():
            blob = git.run("hash-object", "-w", "--stdin", f"--path={path}", given=content)
            _put(git, index, path, ("100644", blob.decode().strip()))
    tree = git.run("write-tree", index=index).decode().strip()
    told = f"Merge {source}, with the answers that are here under its statements"
    commit = git.text("commit-tree", tree, "-p", "HEAD", "-p", new, "-m", told)
    both = (path for path in others if was.get(path) != there.get(path) != here.get(path))
    return commit, [path for path in both if path in here]


def _put(git: Git, index: Path, path: str, blob: tuple[str, str] | None) -> None:
    """Put a file into an index, or take it out."""
    if blob is None:
        git.run("update-index", "--force-remove", "--", path, index=index)
    else:
        git.run("update-index", "--add", "--cacheinfo", f"{blob[0]},{blob[1]},{path}", index=index)
