"""Private names of tarfile that reading archives needs. Tried with Python 3.11."""

import tarfile
from typing import Any


class Member(tarfile.TarInfo):
    """A member that is asked before an extended header of it is read, `size` bytes long, or a sparse map."""

    def before_header(self) -> None:
        raise NotImplementedError

    def before_map(self) -> None:
        raise NotImplementedError

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self.before_header()
        return super()._proc_pax(archive)  # type: ignore[misc, no-any-return]

    def _proc_gnulong(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self.before_header()
        return super()._proc_gnulong(archive)  # type: ignore[misc, no-any-return]

    def _proc_sparse(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self.before_map()
        return super()._proc_sparse(archive)  # type: ignore[misc, no-any-return]

    def _proc_gnusparse_00(self, *arguments: Any) -> None:
        self.before_map()
        super()._proc_gnusparse_00(*arguments)  # type: ignore[misc]

    def _proc_gnusparse_01(self, *arguments: Any) -> None:
        self.before_map()
        super()._proc_gnusparse_01(*arguments)  # type: ignore[misc]

    def _proc_gnusparse_10(self, *arguments: Any) -> None:
        self.before_map()
        super()._proc_gnusparse_10(*arguments)  # type: ignore[misc]
