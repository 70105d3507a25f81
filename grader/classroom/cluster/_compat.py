"""Private names of Dask that a cluster needs. Tried with distributed 2026.8."""

EVENT_HANDLERS = "_default_event_handlers"
"""Where a `Client` keeps what it does with what workers print or warn of."""
