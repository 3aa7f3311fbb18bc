"""One function a command: callable from Python, reporting through a protocol, never printing."""
