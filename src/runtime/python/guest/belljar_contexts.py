"""Contexts of a session: namespaces beside the first one, each with its own variables, numbers and working directory.

They share the interpreter: modules, threads and files are the same. A context is made by its first cell."""
import os
import sys
import types

from belljar_channel import PRIVATE_BUILTINS

__builtins__ = PRIVATE_BUILTINS

OF_SHELL = ("user_module", "user_ns", "user_ns_hidden", "execution_count")
OF_HISTORY = ("input_hist_parsed", "input_hist_raw", "output_hist", "dir_hist", "_i00", "_i", "_ii", "_iii")


class Contexts:
    def __init__(self):
        self.name, self.others = "", {}  # the present one; the state of each other one

    @staticmethod
    def _state(shell):
        history = shell.history_manager
        return ({n: getattr(shell, n) for n in OF_SHELL}, {n: getattr(history, n) for n in OF_HISTORY}, os.getcwd())

    @staticmethod
    def _put(shell, state):
        for name, value in state[0].items():
            setattr(shell, name, value)
        for name, value in state[1].items():
            setattr(shell.history_manager, name, value)
        sys.modules["__main__"] = shell.user_module
        shell.Completer.namespace = shell.user_ns
        shell.Completer.global_namespace = shell.user_ns
        try:
            os.chdir(state[2])
        except OSError:
            pass

    @staticmethod
    def _new(folder):
        import builtins
        module = types.ModuleType("__main__", "A context of a session")
        module.__dict__.update(__builtin__=builtins, __builtins__=builtins)
        return ({"user_module": module, "user_ns": module.__dict__, "user_ns_hidden": {}, "execution_count": 1},
                {"input_hist_parsed": [""], "input_hist_raw": [""], "output_hist": {}, "dir_hist": [], "_i00": "", "_i": "",
                 "_ii": "", "_iii": ""}, folder)

    def enter(self, shell, name, folder):
        if name == self.name:
            return
        state = self.others.pop(name, None)
        self.others[self.name] = self._state(shell)
        self._put(shell, state or self._new(folder or os.getcwd()))
        if state is None:
            shell.init_user_ns()
        self.name = name

    def drop(self, names):
        for name in names:
            self.others.pop(name, None)


class Environment:
    """Variables for one cell. Afterwards they are as before, unless the cell changed them itself."""

    def __init__(self, given):
        self.given = {str(k): str(v) for k, v in given.items()}

    def __enter__(self):
        self.before = {k: os.environ.get(k) for k in self.given}
        os.environ.update(self.given)

    def __exit__(self, *_):
        for name, value in self.before.items():
            if os.environ.get(name) == self.given[name]:
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
