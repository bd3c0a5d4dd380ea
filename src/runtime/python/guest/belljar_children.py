"""Commands that a cell runs: `!cmd`, `x = !cmd`, `%%bash` and its relatives, and os.system.

IPython runs them on a terminal of its own or in a thread, which takes a tenth of a second. Here a command writes to the
cell's own stdout and stderr, so its output streams, and an interrupt reaches its process group."""
import os
import signal
import subprocess
import sys
import threading

from belljar_channel import PRIVATE_BUILTINS

__builtins__ = PRIVATE_BUILTINS

INTERRUPT_GRACE_S = 0.5
_Popen, _killpg, _getpid, _PIPE = subprocess.Popen, os.killpg, os.getpid, subprocess.PIPE
_real = {}  # the streams that the session began with


def keep_streams():
    _real.update(stdout=sys.stdout, stderr=sys.stderr)


def shell_program():
    return os.environ.get("SHELL") or ("/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh")


def _signal_group(process, number):
    try:
        _killpg(process.pid, number)
    except OSError:
        pass


def _end(process):
    """After an interrupt: SIGINT, and SIGKILL for a command that ignores it."""
    _signal_group(process, signal.SIGINT)
    try:
        process.wait(INTERRUPT_GRACE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        _signal_group(process, signal.SIGKILL)
        process.wait()


def _is_real(name):
    stream = getattr(sys, name)
    return stream is not None and stream is _real.get(name)


def _copy(source, stream):
    for line in iter(lambda: os.read(source.fileno(), 1 << 16), b""):
        stream.write(line.decode("utf-8", "replace"))
    source.close()


def _feed(process, data):
    try:
        process.stdin.write(data)
        process.stdin.close()
    except BrokenPipeError:
        pass


def run(argv, stdin=None, out=None, err=None):
    """Runs a command in the foreground. stdin: bytes. out, err: lists that collect its output in place of the streams.
    Returns the status as subprocess does."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    pipes = {name: _PIPE if wanted is not None or not _is_real(name) else None
             for name, wanted in (("stdout", out), ("stderr", err))}
    process = _Popen(argv, stdin=_PIPE if stdin is not None else None, process_group=0, **pipes)
    threads = []
    try:
        jobs = [(_feed, (process, stdin))] if stdin is not None else []
        for name, wanted in (("stdout", out), ("stderr", err)):
            if pipes[name]:
                sink = _Sink(wanted) if wanted is not None else getattr(sys, name) or _Sink([])
                jobs.append((_copy, (getattr(process, name), sink)))
        # The last job needs no thread; a script that fits into the pipe needs none either.
        if stdin is not None and len(stdin) <= 4096:
            _feed(process, stdin)
            jobs = jobs[1:]
        threads = [threading.Thread(target=job, args=args, daemon=True) for job, args in jobs[1:]]
        for thread in threads:
            thread.start()
        for job, args in jobs[:1]:
            job(*args)
        for thread in threads:
            thread.join()
        return process.wait()
    except BaseException:
        _end(process)
        raise


class _Sink:
    def __init__(self, parts):
        self.write = parts.append


def exit_code(status):
    """As IPython tells it: negative for a signal, also for one that a shell reports."""
    return 128 - status if status > 128 else status


def system(shell, command):
    """`!command`"""
    status = run([shell_program(), "-c", shell.var_expand(command, depth=2)])
    shell.user_ns["_exit_code"] = exit_code(status)


def output_of(shell, command, depth):
    """`x = !command`: stdout and stderr together, as on a terminal."""
    process = _Popen([shell_program(), "-c", shell.var_expand(command, depth=depth + 2)], stdout=_PIPE,
                     stderr=subprocess.STDOUT, process_group=0)
    try:
        out, _ = process.communicate()
    except BaseException:
        _end(process)
        raise
    shell.user_ns["_exit_code"] = exit_code(process.returncode)
    return out.decode("utf-8", "replace").replace("\r\n", "\n")


def os_system(command):
    """os.system: the C library ignores SIGINT while the command runs, so an interrupt would be lost."""
    command = os.fsencode(command)
    sys.audit("os.system", command)
    process = _Popen(["/bin/sh", "-c", command], process_group=0)
    try:
        status = process.wait()
    except BaseException:
        _end(process)
        raise
    return status << 8 if status >= 0 else -status


def script(magics, original, line, cell):
    """`%%script`, `%%bash`, `%%python` ..."""
    from IPython.utils.process import arg_split
    args, command = magics.shebang.parser.parse_known_args(arg_split(line))
    if args.bg or not command:
        return original(line, cell)
    out, err = [] if args.out else None, [] if args.err else None
    cell = (cell if cell.endswith("\n") else cell + "\n").encode("utf-8", "replace")
    try:
        status = run(command, stdin=cell, out=out, err=err)
    except FileNotFoundError:
        print(f"Couldn't find program: {command[0]!r}")
        return None
    for name, parts in ((args.out, out), (args.err, err)):
        if name:
            magics.shell.user_ns[name] = "".join(parts)
    if args.raise_error and status != 0:
        raise subprocess.CalledProcessError(status, cell)
    return None


def take_over(shell):
    """Makes the shell and os use the functions above."""
    keep_streams()
    magics = shell.magics_manager.registry["ScriptMagics"]
    original = magics.shebang

    def shebang(line, cell):
        return script(magics, original, line, cell)

    shebang.parser = original.parser
    magics.shebang = shebang
    shell.magics_manager.magics["cell"]["script"] = shebang
    os.system = os_system
