"""A terminal: tmux, so that the screen is the one that a person sees."""

import subprocess
import uuid

from harness import eventually


class Terminal:
    """A command in a tmux of its own. Keys are tmux's names; text is typed as it is."""

    def __init__(self, argv, cwd, columns=80, environ=None):
        self.name = f"jartest-{uuid.uuid4().hex[:8]}"
        words = [f"{k}={v}" for k, v in (environ or {}).items()]
        self.tmux("new-session", "-d", "-x", str(columns), "-y", "24", "-c", str(cwd), "env", *words, *map(str, argv))

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.name, "-f", "/dev/null", *args], capture_output=True, text=True,
                              timeout=30, check=False).stdout

    def type(self, text, *keys):
        if text.endswith(";"):  # tmux takes it for the end of its own command
            text = text[:-1] + "\\;"
        self.tmux("send-keys", "-l", "--", text)
        for key in keys:
            self.tmux("send-keys", key)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def paste(self, text):
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p")

    def screen(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else [])).rstrip("\n")

    def shows(self, *lines, within=30):
        """Until the screen has these lines, one after the other."""
        wanted = "\n".join(lines)
        assert eventually(lambda: wanted in "\n".join(x.rstrip() for x in self.screen().split("\n")), within), (
            wanted, self.screen())

    def gone(self):
        return not self.tmux("list-sessions")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")
