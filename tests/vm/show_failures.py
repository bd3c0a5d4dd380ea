"""A plugin of pytest that prints a failure at once. A stage that is cut short has no summary."""


def pytest_runtest_logreport(report):
    if report.failed:
        print(f"\n{report.longreprtext}\n{report.capstdout[-4000:]}", flush=True)
