"""A private name of tarfile that reading archives needs. Tried with Python 3.11."""

import tarfile


class Member(tarfile.TarInfo):
    """A member that is asked before one of its extended headers is read, `size` bytes long."""

    def before_header(self) -> None:
        raise NotImplementedError

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self.before_header()
        return super()._proc_pax(archive)  # type: ignore[misc, no-any-return]
