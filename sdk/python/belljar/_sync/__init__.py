"""The client for threads that wait. Made from _aio by sdk/generate, but for wire.py and opening.py."""
