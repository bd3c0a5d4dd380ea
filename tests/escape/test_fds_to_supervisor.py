"""Descriptors sent to the supervisor: there is no socket to send them over."""

from harness import attack, run_sh


def test_there_is_nobody_to_send_a_descriptor_to():
    found, _ = attack("""
found["sockets"] = [fd for fd in (0, 1, 2) if stat.S_ISSOCK(os.fstat(fd).st_mode)]
found["send"] = {}
for fd in (0, 1, 2):
    anc = struct.pack("<QiiI", 20, 1, 1, os.open(".", os.O_RDONLY)) + b"\\0" * 4
    name = ctypes.create_string_buffer(b"x")
    iov = struct.pack("<QQ", ctypes.addressof(name), 1)
    control = ctypes.create_string_buffer(anc)
    vec = ctypes.create_string_buffer(iov)
    msg = struct.pack("<QIIQQQQI", 0, 0, 0, ctypes.addressof(vec), 1, ctypes.addressof(control), 24, 0) + b"\\0" * 4
    found["send"][str(fd)] = sys_call(46, fd, ctypes.c_char_p(msg), 0)
""")
    assert found["sockets"] == [] and set(found["send"].values()) <= {"ENOTSOCK", "EPERM", "EACCES", "ENOSYS"}, found


def test_junk_on_every_descriptor_disturbs_nobody():
    """Only 1 and 2 can be written to. Every number is tried."""
    result = run_sh("for i in $(seq 3 200); do (printf 'verdict ok\\0\\0\\1\\377' >&$i) 2>/dev/null && echo wrote $i; "
                    "done; echo end; exit 4")
    assert (result.verdict, result.status, result.stdout) == ("runtime_error", 4, "end\n"), result
