"""open_by_handle_at ("shocker"): a file handle made by hand opens nothing."""

from harness import attack, let_through


def test_handles_cannot_be_made_or_opened():
    found, _ = attack("""
for kind in (0x1, 0x81, 0xfe):
    for inode in (2, 1, 128):
        handle = struct.pack("<Ii", 8, kind) + struct.pack("<II", inode, 0)
        for path in (".", "/", "/usr", "/etc/passwd", "/tmp"):
            fd = attempt(os.open, path, os.O_RDONLY)
            if not fd.startswith("ok"): continue
            found[f"open {kind} {inode} {path}"] = sys_call(304, int(fd[4:]), ctypes.c_char_p(handle), os.O_RDONLY)
            os.close(int(fd[4:]))
buffer, mount = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0) + bytes(128)), ctypes.c_int()
found["name"] = sys_call(303, -100, ctypes.c_char_p(b"/usr"), buffer, ctypes.byref(mount), 0)
""")
    assert len(found) > 10 and not let_through({k: v for k, v in found.items() if k != "name"}), found
