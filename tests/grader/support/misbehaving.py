"""What a Dask worker should not reply; its own module, because workers import it."""


class Touching:
    """Touches a file where it is unpickled, in a process that names one."""

    def __reduce__(self):
        text = "__import__('pathlib').Path(__import__('os').environ['KATA_TOUCHED']).touch()"
        return exec, (text,)


def answer_with_an_object(settings, batch):
    return Touching()
