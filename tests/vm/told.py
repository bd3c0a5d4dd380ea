"""A plugin of pytest's: why a test failed is told at once. A stage that is cut short has no summary."""


def pytest_runtest_logreport(report):
    if report.failed:
        print(f"\n{report.longreprtext}\n{report.capstdout[-4000:]}", flush=True)
