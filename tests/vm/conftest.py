"""The tests of this folder describe places inside the virtual machine; elsewhere they are not collected."""
import os

if "BELLJAR_VM_STAGE" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
