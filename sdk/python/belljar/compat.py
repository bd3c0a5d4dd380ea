"""`CodeSandbox` and its companions, as other Python sandboxes offer them, over a Belljar service.

    from belljar.compat import CodeSandbox, ResourceLimits

    result = CodeSandbox().execute("print(6 * 7)", "python", ResourceLimits(timeout_seconds=2))
"""

from __future__ import annotations

import re
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Deque, Dict, List, Mapping, Optional, Set, Union

from ._sync.client import Belljar
from ._sync.runs import Run
from .errors import BelljarError
from .models import Result

HISTORY_MAX = 1000


@dataclass
class ResourceLimits:
    """Limits in the words of containers. Swap is never used, and CPUs are shared by quota: `memory_swap` and
    `cpu_shares` change nothing."""

    memory_limit: str = "512m"
    memory_swap: Optional[str] = None
    cpu_quota: int = 100000
    cpu_period: int = 100000
    cpu_shares: int = 1024
    pids_limit: int = 100
    timeout_seconds: float = 30

    def fields(self) -> Dict[str, Any]:
        """As `limits` of a request."""
        return {
            "memory": self.memory_limit,
            "cpu_percent": max(1, round(100 * self.cpu_quota / self.cpu_period)),
            "pids": self.pids_limit,
            "wall_ms": max(1, round(self.timeout_seconds * 1000)),
        }


@dataclass
class ExecutionResult:
    """The end of one execution."""

    success: bool
    exit_code: int
    stdout: str
    stderr: str
    execution_time: float
    timeout: bool = False
    error_message: Optional[str] = None
    container_id: Optional[str] = None
    language: Optional[str] = None
    resource_usage: Dict[str, Any] = field(default_factory=dict)
    output_files: Dict[str, Union[str, bytes]] = field(default_factory=dict)
    memory_used: Optional[int] = None
    cpu_percent: Optional[float] = None
    timestamp: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat())
    diagnosis: Optional[Dict[str, Any]] = field(default=None, repr=False)


class CodeSandbox:
    """Runs code, each time in a jar of its own."""

    def __init__(self, default_limits: Optional[ResourceLimits] = None, *, client: Optional[Belljar] = None) -> None:
        self.default_limits = default_limits or ResourceLimits()
        self._jar = client or Belljar()
        self._history: Deque[Dict[str, Any]] = deque(maxlen=HISTORY_MAX)
        self._active: Set[Run] = set()
        self._programs: Optional[Dict[str, str]] = None
        self._lock = threading.Lock()

    def execute(self, code: str, language: str, limits: Optional[ResourceLimits] = None, network_enabled: bool = False,
                env_vars: Optional[Mapping[str, str]] = None, files: Optional[Mapping[str, Union[str, bytes]]] = None,
                read_only: bool = True) -> ExecutionResult:
        """Runs a program with the files in /sandbox. Files that it writes there are in `output_files`. An error of the
        service is a result, too, with its message in `error_message`."""
        try:
            run = self._jar.start(code, language, limits=(limits or self.default_limits).fields(),  # type: ignore
                                  network="full" if network_enabled else "none", env=dict(env_vars or {}),
                                  files=dict(files or {}), read_only=read_only, outputs=["."])
            with self._lock:
                self._active.add(run)
            try:
                outcome = run.result()
            finally:
                with self._lock:
                    self._active.discard(run)
            result = result_of(outcome, written(run, outcome, files or {}, self._program_of(outcome.language)))
        except BelljarError as e:
            result = ExecutionResult(False, -1, "", "", 0.0, error_message=str(e), language=language)
        self._history.append({
            "timestamp": result.timestamp, "language": language, "success": result.success,
            "exit_code": result.exit_code, "execution_time": result.execution_time,
            "container_id": result.container_id,
        })
        return result

    def _program_of(self, language: str) -> Optional[str]:
        """The name of the file that the code is in."""
        if self._programs is None:
            self._programs = {known.name: known.main_file for known in self._jar.languages()}
        return self._programs.get(language)

    def list_supported_languages(self) -> List[str]:
        """The languages that are installed."""
        return [language.name for language in self._jar.languages() if language.installed]

    def get_execution_history(self, limit: Optional[int] = None) -> List[Dict[str, Any]]:
        """The executions of this object, the oldest first; with a limit, the last ones."""
        entries = list(self._history)
        return entries if limit is None else entries[max(0, len(entries) - limit):]

    def get_resource_usage(self, container_id: str) -> Dict[str, Any]:
        """Time, memory and processes of an execution that is over; an empty dict until then."""
        return dict(self._jar.runs.get(container_id).state().raw.get("usage") or {})

    def cleanup_all_containers(self) -> int:
        """Cancels the executions of this object that still run, in other threads; their number."""
        with self._lock:
            active = list(self._active)
        return sum(run.cancel() for run in active)


def written(run: Run, outcome: Result, given: Mapping[str, Union[str, bytes]],
            program: Optional[str]) -> Dict[str, Union[str, bytes]]:
    """The files that the program wrote: neither the program itself nor the unchanged files that it was given."""
    found: Dict[str, Union[str, bytes]] = {}
    known = {name: value.encode() if isinstance(value, str) else value for name, value in given.items()}
    for file in outcome.files:
        is_product = outcome.compile is not None and re.fullmatch(r"program|.*\.class|.*\.jar", file.name)
        if file.status != "ok" or file.name == program or is_product:
            continue
        content = run.file(file.name)
        if known.get(file.name) == content:
            continue
        try:
            found[file.name] = content.decode()
        except UnicodeDecodeError:
            found[file.name] = content
    return found


def result_of(outcome: Result, output_files: Dict[str, Union[str, bytes]]) -> ExecutionResult:
    usage = outcome.raw.get("usage") or {}
    wall, cpu = usage.get("wall_ms", 0.0), usage.get("cpu_ms", 0.0)
    return ExecutionResult(
        success=outcome.success, exit_code=outcome.exit_code, stdout=outcome.stdout or "", stderr=outcome.stderr or "",
        execution_time=wall / 1000, timeout=outcome.verdict == "timeout",
        error_message=None if outcome.success else outcome.explain().partition("\n")[0], container_id=outcome.id,
        language=outcome.language, resource_usage=usage, output_files=output_files,
        memory_used=usage.get("memory_peak_bytes"), cpu_percent=100 * cpu / wall if wall else None,
        timestamp=outcome.started_at or datetime.now(timezone.utc).isoformat(),
        diagnosis=outcome.raw.get("diagnosis"),
    )


class AutoDebuggerIntegration:
    """Results in the form that automatic debuggers expect."""

    def __init__(self, sandbox: Optional[CodeSandbox] = None) -> None:
        self.sandbox = sandbox

    @staticmethod
    def analyze_error(result: ExecutionResult) -> Dict[str, Any]:
        """{is_error, error_type, suggestion?, exception?, error?}"""
        if result.success:
            return {"is_error": False, "error_type": "unknown"}
        found = result.diagnosis or {}
        analysis: Dict[str, Any] = {"is_error": True, "error_type": error_type(result)}
        suggestions = found.get("suggestions") or []
        if suggestions:
            analysis["suggestion"] = suggestions[0]["text"]
        elif analysis["error_type"] == "timeout":
            analysis["suggestion"] = "Give the program more time, or look for a loop that does not end."
        if analysis["error_type"] == "python_exception":
            analysis["exception"] = found.get("type") or exception_of(result.stderr)
        message = found.get("message") or result.error_message
        if message:
            analysis["error"] = message
        return analysis

    @staticmethod
    def create_debug_report(result: ExecutionResult) -> Dict[str, Any]:
        """{status, exit_code, execution_time, timestamp, language, container_id, output, resource_usage, …}"""
        report: Dict[str, Any] = {
            "status": "success" if result.success else "failure",
            "exit_code": result.exit_code,
            "execution_time": result.execution_time,
            "timestamp": result.timestamp,
            "language": result.language,
            "container_id": result.container_id,
            "output": {"stdout": result.stdout, "stderr": result.stderr},
            "resource_usage": result.resource_usage,
        }
        if not result.success:
            report["error_type"] = error_type(result)
            report["error_message"] = result.error_message
        if result.output_files:
            report["output_files"] = list(result.output_files)
        return report


def error_type(result: ExecutionResult) -> str:
    """By priority: a timeout, the sandbox, an exception of the program."""
    found = result.diagnosis or {}
    if result.success:
        return "unknown"
    if result.timeout or found.get("verdict") in ("timeout", "cpu_timeout"):
        return "timeout"
    if found.get("sandbox") or found.get("verdict") in ("internal_error", "rejected") or result.exit_code == -1:
        return "sandbox_error"
    if result.language == "python" and exception_of(result.stderr):
        return "python_exception"
    return "execution_failure"


def exception_of(stderr: str) -> Optional[str]:
    """The type in the last line of a traceback."""
    if "Traceback" not in stderr and "Error" not in stderr:
        return None
    lines = re.findall(r"^([A-Za-z_][\w.]*)(?::.*)?$", stderr, re.M)
    return lines[-1].rpartition(".")[2] if lines else None
