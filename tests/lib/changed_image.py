"""A stand-in for an interpreter, a library or a kernel that changed: images that fit none of them any longer."""
import os
import sqlite3
import struct


def make_foreign(service, kind):
    """While the service is stopped: every image of this kind names another kernel, and its row knows the file."""
    db = sqlite3.connect(service.data / "belljar.db")
    ids = [row[0] for row in db.execute("SELECT id FROM images WHERE kind = ?", (kind,))]
    for name in ids:
        path = service.data / "images" / name
        os.chmod(path, 0o600)
        with open(path, "r+b") as f:
            f.seek(8)
            head = int.from_bytes(f.read(8), "little")
            f.seek(head + 64)
            f.write((1).to_bytes(8, "little"))
        os.chmod(path, 0o400)
        info = os.stat(path)
        stamp = struct.pack("<QQqq", info.st_ino, info.st_size, info.st_ctime_ns, info.st_mtime_ns)
        db.execute("UPDATE images SET stamp = ? WHERE id = ?", (stamp, name))
    db.commit()
    db.close()
    assert ids
