"""Runs cells in IPython's own InteractiveShell: the reference for sessions of Python.

    /usr/bin/python3 ipython_reference.py <CELLS.json >OUTCOMES.json

CELLS.json is a list of cells. An outcome has stdout, results and displays (lists of
{MIME type: data}) and error
([name, message] or null)."""
import json
import os
import sys
import tempfile


def make_shell():
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Hook(DisplayHook):
        results = []

        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            self.results.append(format_dict)

    class Shell(InteractiveShell):
        def _showtraceback(self, etype, evalue, stb):
            pass

        def enable_gui(self, gui=None):
            pass

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.display_page = True  # a page is a display, as in notebooks
    config.Completer.use_jedi = False
    shell = Shell.instance(config=config, display_pub_class=CapturingDisplayPublisher, displayhook_class=Hook)
    sys.path.insert(0, "")  # as the command ipython does
    return shell, Hook


def plain(bundle):
    return {mime: value if isinstance(value, (str, dict, list)) else repr(value) for mime, value in bundle.items()}


def main():
    cells = json.load(sys.stdin)
    report, capture = os.dup(1), tempfile.TemporaryFile()
    os.dup2(capture.fileno(), 1)
    shell, hook = make_shell()
    outcomes = []
    for cell in cells:
        hook.results.clear()
        shell.display_pub.outputs.clear()
        at = os.lseek(1, 0, os.SEEK_CUR)
        outcome = shell.run_cell(cell, store_history=True)
        sys.stdout.flush()
        end = os.lseek(1, 0, os.SEEK_CUR)
        stdout = os.pread(capture.fileno(), end - at, at).decode("utf-8", "replace")
        error = outcome.error_before_exec or outcome.error_in_exec
        outcomes.append({
            "stdout": stdout, "results": [plain(result) for result in hook.results],
            "displays": [plain(output["data"]) for output in shell.display_pub.outputs],
            "error": [type(error).__name__, str(error)] if error is not None else None})
    with open(report, "w") as f:
        json.dump(outcomes, f)
        f.flush()
        os._exit(0)


main()
