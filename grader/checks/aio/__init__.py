"""Event loops and ASGI applications, without waiting and without sockets."""
