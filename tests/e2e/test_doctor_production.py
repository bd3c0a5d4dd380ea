"""`belljar doctor --production` over trees of files that a test makes: no setting of this machine matters."""

import json

import pytest

from harness import belljar

GOOD = {
    "proc/swaps": "Filename Type Size Used Priority\n",
    "sys/devices/system/cpu/smt/control": "off\n",
    "sys/kernel/mm/ksm/run": "0\n",
    "proc/cmdline": "root=/dev/vda1 quiet\n",
    "sys/devices/system/cpu/vulnerabilities/spectre_v2": "Mitigation: Retpolines\n",
    "proc/sys/kernel/core_pattern": "core\n",
    "proc/sys/kernel/dmesg_restrict": "1\n",
    "proc/sys/kernel/kptr_restrict": "1\n",
    "proc/sys/kernel/yama/ptrace_scope": "1\n",
    "proc/sys/kernel/unprivileged_bpf_disabled": "2\n",
    "proc/sys/user/max_user_namespaces": "95000\n",
    "sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n",
    "proc/self/limits": "Limit  Soft  Hard\nMax open files            1024          1048576     files\n",
    "proc/sys/vm/oom_dump_tasks": "0\n",
}
# name: the file, a text that is bad (None: the file is missing), a part of the command that mends it
BAD = {
    "swap": ("proc/swaps", "Filename Type Size Used Priority\n/dev/vda2 partition 100 0 -2\n", "swapoff -a"),
    "smt": ("sys/devices/system/cpu/smt/control", "on\n", "smt/control"),
    "ksm": ("sys/kernel/mm/ksm/run", "1\n", "echo 2 > /sys/kernel/mm/ksm/run"),
    "mitigations": ("proc/cmdline", "quiet mitigations=off\n", "mitigations=off"),
    "spectre": ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Vulnerable, IBPB: disabled\n", "microcode"),
    "core-pattern": ("proc/sys/kernel/core_pattern", "|/usr/lib/crash %p\n", "kernel.core_pattern=core"),
    "dmesg": ("proc/sys/kernel/dmesg_restrict", "0\n", "kernel.dmesg_restrict=1"),
    "kernel-addresses": ("proc/sys/kernel/kptr_restrict", "0\n", "kernel.kptr_restrict=1"),
    "ptrace": ("proc/sys/kernel/yama/ptrace_scope", "0\n", "kernel.yama.ptrace_scope=1"),
    "bpf": ("proc/sys/kernel/unprivileged_bpf_disabled", "0\n", "kernel.unprivileged_bpf_disabled=1"),
    "user-namespaces": ("proc/sys/user/max_user_namespaces", "0\n", "user.max_user_namespaces"),
    "cgroup": ("sys/fs/cgroup/cgroup.controllers", None, "systemd.unified_cgroup_hierarchy=1"),
    "descriptors": ("proc/self/limits", "Max open files            1024                 4096                 files\n",
                    "LimitNOFILE="),
    "oom-list": ("proc/sys/vm/oom_dump_tasks", "1\n", "vm.oom_dump_tasks=0"),
}


@pytest.fixture
def machine(tmp_path):
    """Makes the tree of a machine on which everything is good, but for these files."""
    def make(changes):
        for path, text in {**GOOD, **changes}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).unlink(missing_ok=True)
            if text is not None:
                (tmp_path / path).write_text(text)
        return str(tmp_path)
    return make


def examine(root):
    found = belljar("doctor", "--production", "--json", "--root", root)
    return found.status, {f["name"]: f for f in json.loads(found.out)}


def test_doctor_has_nothing_to_mend_on_a_good_machine(machine):
    status, found = examine(machine({}))
    assert status == 0 and set(found) == set(BAD)
    assert all(f["state"] == "good" and f["command"] is None for f in found.values()), found
    assert "Nothing is to mend." in belljar("doctor", "--production", "--root", machine({})).out.decode()


def test_doctor_names_each_bad_setting_with_its_command(machine):
    for name, (path, text, command) in BAD.items():
        status, found = examine(machine({path: text}))
        bad = {n for n, f in found.items() if f["state"] == "bad"}
        assert status != 0 and bad == {name}, (name, found)
        assert command in found[name]["command"] and found[name]["what"], found[name]
    text = belljar("doctor", "--production", "--root", machine({BAD["swap"][0]: BAD["swap"][1]}))
    assert text.status != 0 and b"/dev/vda2" in text.out and b"      swapoff -a" in text.out, text


def test_doctor_says_unknown_where_a_kernel_tells_nothing(tmp_path):
    status, found = examine(str(tmp_path))
    assert found["dmesg"]["state"] == "unknown" and found["dmesg"]["value"] is None
    assert found["user-namespaces"]["state"] == "bad" and found["swap"]["state"] == "good"
    refused = belljar("doctor", "--root", str(tmp_path))
    assert refused.status == 64 and b"--production" in refused.err, refused
