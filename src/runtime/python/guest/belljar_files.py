"""Files of a sandbox for its helper (belljar_helper.py): paths, entries, whole files, folders that are watched. Names and
values are those of E2B's envd."""
import errno
import os
import shutil
import stat
import time
import zlib

HOME, ALIAS = "/sandbox", "/home/user"
CHUNK = 32 << 10
ENTRIES_MAX, WATCHED_MAX = 20000, 5000


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def refusal_of(e, path=None):
    name = f"'{path}': " if path is not None else ""
    code = {errno.ENOENT: "not_found", errno.EEXIST: "already_exists", errno.EACCES: "permission_denied",
            errno.EPERM: "permission_denied", errno.EROFS: "permission_denied", errno.ENOSPC: "resource_exhausted",
            errno.EDQUOT: "resource_exhausted", errno.EMFILE: "resource_exhausted", errno.EAGAIN: "resource_exhausted",
            errno.ENOMEM: "resource_exhausted"}.get(e.errno, "invalid_argument")
    return Refused(code, f"{name}{e.strerror or e}")


# ---- paths and entries ----

def shown_path(path):
    """The path of a client as an absolute one. Relative ones begin at its home."""
    if "\0" in path:
        raise Refused("invalid_argument", "a path with NUL is not accepted")
    if path == "~" or path.startswith("~/"):
        path = ALIAS + path[1:]
    return os.path.normpath(os.path.join(ALIAS, path)).replace("//", "/", 1)


def real_path(shown):
    if shown == ALIAS or shown.startswith(ALIAS + "/"):  # a link in the root
        return HOME + shown[len(ALIAS):]
    return shown


def moment(ns):
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9))
    return f"{whole}.{ns % 10**9:09d}Z"


KINDS = {stat.S_IFREG: "FILE_TYPE_FILE", stat.S_IFDIR: "FILE_TYPE_DIRECTORY", stat.S_IFLNK: "FILE_TYPE_SYMLINK"}
METADATA = "user.e2b."


def metadata_of(path):
    try:
        return {n[len(METADATA):]: os.getxattr(path, n, follow_symlinks=False).decode("utf-8", "replace")
                for n in os.listxattr(path, follow_symlinks=False) if n.startswith(METADATA)}
    except OSError:
        return {}


def entry_of(shown):
    path = real_path(shown)
    try:
        st = os.lstat(path)
    except OSError as e:
        raise refusal_of(e, shown) from None
    kind = KINDS.get(stat.S_IFMT(st.st_mode), "FILE_TYPE_UNSPECIFIED")
    entry = {"name": os.path.basename(shown) or "/", "path": shown, "type": kind, "size": str(st.st_size),
             "mode": stat.S_IMODE(st.st_mode), "permissions": stat.filemode(st.st_mode), "owner": "user", "group": "user",
             "modifiedTime": moment(st.st_mtime_ns)}
    if kind == "FILE_TYPE_SYMLINK":
        entry["symlinkTarget"] = os.readlink(path)
    known = metadata_of(path)
    if known:
        entry["metadata"] = known
    return entry


def list_folder(shown, depth, entries):
    try:
        names = sorted(os.listdir(real_path(shown)))
    except OSError as e:
        raise refusal_of(e, shown) from None
    for name in names:
        if len(entries) >= ENTRIES_MAX:
            raise Refused("resource_exhausted", f"'{shown}' has more than {ENTRIES_MAX} entries: list a folder in it, or a smaller depth")
        try:
            entry = entry_of(os.path.join(shown, name))
        except Refused:  # it is gone
            continue
        entries.append(entry)
        if depth > 1 and entry["type"] == "FILE_TYPE_DIRECTORY":
            try:
                list_folder(entry["path"], depth - 1, entries)
            except Refused as e:
                if e.code == "resource_exhausted":
                    raise


def path_in(body, key="path"):
    value = body.get(key, "")
    if not isinstance(value, str):
        raise Refused("invalid_argument", f"{key} must be text")
    return shown_path(value)


def call_stat(body):
    return {"entry": entry_of(path_in(body))}


def call_list_dir(body):
    depth, shown, entries = body.get("depth", 1), path_in(body), []
    if not isinstance(depth, int) or depth < 0:
        raise Refused("invalid_argument", f"depth {depth!r} is not accepted: a whole number from 1")
    if not os.path.isdir(real_path(shown)) and os.path.lexists(real_path(shown)):
        raise Refused("invalid_argument", f"'{shown}' is not a directory")
    list_folder(shown, depth or 1, entries)
    return {"entries": entries}


def call_make_dir(body):
    shown = path_in(body)
    path = real_path(shown)
    if os.path.isdir(path):
        raise Refused("already_exists", f"directory already exists: '{shown}'")
    try:
        os.makedirs(path)
    except OSError as e:
        if isinstance(e, (FileExistsError, NotADirectoryError)):
            raise Refused("invalid_argument", f"'{shown}': a part of this path is a file") from None
        raise refusal_of(e, shown) from None
    return {"entry": entry_of(shown)}


def call_move(body):
    source, target = path_in(body, "source"), path_in(body, "destination")
    try:
        os.lstat(real_path(source))
        os.makedirs(os.path.dirname(real_path(target)), exist_ok=True)
        os.rename(real_path(source), real_path(target))
    except OSError as e:
        raise refusal_of(e, source) from None
    return {"entry": entry_of(target)}


def call_remove(body):
    shown = path_in(body)
    path = real_path(shown)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as e:
        raise refusal_of(e, shown) from None
    return {}


# ---- files as a whole ----

def multipart(data, kind):
    """The files of a form: pairs of a name and bytes. The parts that are no file are left out."""
    at = kind.lower().find("boundary=")
    boundary = kind[at + 9:].split(";")[0].strip().strip('"').encode("latin-1") if at >= 0 else b""
    if not 1 <= len(boundary) <= 200:
        raise Refused("invalid_argument", "the Content-Type of the form has no boundary")
    mark, found, data = b"\r\n--" + boundary, [], b"\r\n" + data
    at = data.find(mark)
    while at >= 0:
        begin = at + len(mark)
        at = data.find(mark, begin)
        if data[begin:begin + 2] == b"--":
            return found
        head_end = data.find(b"\r\n\r\n", begin)
        if at < 0 or head_end < 0 or head_end > at:
            break
        name = form_name(data[begin:head_end])
        if name is not None:
            found.append((name, data[head_end + 4:at]))
    raise Refused("invalid_argument", "the form ends in the middle of a part")


def form_name(head):
    """The name of the file in the head of a part, if its field is `file`. A client escapes three characters in it."""
    for line in head.decode("utf-8", "replace").split("\r\n"):
        if line.lower().startswith("content-disposition:") and 'name="file"' in line.replace(' filename="', " \0"):
            at = line.find('filename="')
            if at >= 0:
                name = line[at + 10:line.rfind('"')]
                return name.replace("%0D", "\r").replace("%0A", "\n").replace("%22", '"')
    return None


def decoded(data, encoding):
    if encoding in ("", "identity"):
        return data
    if encoding != "gzip":
        raise Refused("invalid_argument", f"Content-Encoding '{encoding}' is not accepted: gzip or identity")
    try:
        return zlib.decompress(data, 31)
    except zlib.error as e:
        raise Refused("invalid_argument", f"the body is not gzip: {e}") from None


def write_file(shown, data, metadata):
    path = real_path(shown)
    try:
        if os.path.isdir(path):
            raise Refused("invalid_argument", f"'{shown}' is a directory")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    except OSError as e:
        raise refusal_of(e, shown) from None
    written = {"path": shown, "name": os.path.basename(shown), "type": "file"}
    for key, value in metadata.items():
        try:
            os.setxattr(path, METADATA + key.lower(), value.encode())
        except OSError as e:
            raise Refused("unimplemented", f"this kernel keeps no metadata of files: {e.strerror}") from None
    if metadata:
        written["metadata"] = metadata_of(path)
    return written


def call_write(request, data):
    query, kind = request.get("query", {}), request.get("type", "")
    data = decoded(data, request.get("encoding", ""))
    metadata, given = request.get("metadata", {}), query.get("path", "")
    if kind.lower().startswith("multipart/form-data"):
        files = multipart(data, kind)
        if not files:
            raise Refused("invalid_argument", "the form has no file: a part named 'file' with a filename is expected")
        if given and len(files) == 1:
            files = [(given, files[0][1])]
        elif given:
            raise Refused("invalid_argument", "a path in the query is for one file")
    elif given:
        files = [(given, data)]
    else:
        raise Refused("invalid_argument", "the query has no path")
    return [write_file(shown_path(name), content, metadata) for name, content in files]


# ---- folders that are watched ----

LOOK_S = 0.1


class Watch:
    """A jar has no inotify: the folder is looked at ten times a second, and after each change that a client makes here. A
    file that a program makes and removes between two looks is not seen."""

    def __init__(self, helper, body, tell):
        shown = path_in(body)
        if not os.path.isdir(real_path(shown)):
            known = os.path.lexists(real_path(shown))
            raise Refused("invalid_argument" if known else "not_found", f"'{shown}' is not a directory" if known else f"'{shown}' does not exist")
        self.helper, self.shown, self.tell, self.open = helper, shown, tell, True
        self.recursive, self.with_entry = bool(body.get("recursive")), bool(body.get("includeEntry"))
        self.known = self.scan()
        helper.at(LOOK_S, self.tick)

    def scan(self):
        found, folders = {}, [""]
        while folders and len(found) < WATCHED_MAX:
            below = folders.pop()
            try:
                with os.scandir(os.path.join(real_path(self.shown), below)) as entries:
                    for one in entries:
                        st = one.stat(follow_symlinks=False)
                        name = os.path.join(below, one.name)
                        found[name] = st.st_ino, st.st_mtime_ns, st.st_size, stat.S_IMODE(st.st_mode), stat.S_ISDIR(st.st_mode)
                        if self.recursive and stat.S_ISDIR(st.st_mode):
                            folders.append(name)
            except OSError:  # it is gone
                pass
        return found

    def look(self):
        before, now = self.known, self.scan()
        self.known = now
        inodes = {state[0] for name, state in now.items() if name not in before}
        for name, state in before.items():
            if name not in now:
                self.note(name, "EVENT_TYPE_RENAME" if state[0] in inodes else "EVENT_TYPE_REMOVE")
        moved = {state[0] for name, state in before.items() if name not in now}
        for name, state in now.items():
            old = before.get(name)
            if old is None:
                self.note(name, "EVENT_TYPE_CREATE")
                if not state[4] and state[0] not in moved:
                    self.note(name, "EVENT_TYPE_WRITE")
            elif not state[4] and state[:3] != old[:3]:
                self.note(name, "EVENT_TYPE_WRITE")
            elif state[3] != old[3]:
                self.note(name, "EVENT_TYPE_CHMOD")

    def tick(self):
        if self.open:
            self.look()
            self.helper.at(LOOK_S, self.tick)

    def note(self, name, kind):
        event = {"name": name, "type": kind}
        if self.with_entry:
            try:
                event["entry"] = entry_of(os.path.join(self.shown, name))
            except Refused:
                pass
        self.tell(event)

    def close(self):
        self.open = False


class Reading:
    """A file on its way to the host, no faster than the host takes it."""

    def __init__(self, helper, one, shown):
        path = real_path(shown)
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as e:
            raise refusal_of(e, shown) from None
        st = os.fstat(self.fd)
        if not stat.S_ISREG(st.st_mode):
            os.close(self.fd)
            raise Refused("invalid_argument", f"'{shown}' is a directory" if stat.S_ISDIR(st.st_mode) else f"'{shown}' is no regular file")
        self.helper, self.id = helper, one
        helper.peer.send({"id": one, "file": {"size": st.st_size, "name": os.path.basename(shown)}})
        helper.readings[one] = self

    def go_on(self):
        try:
            data = os.read(self.fd, CHUNK)
        except OSError:
            data = b""
        if data:
            self.helper.peer.send({"id": self.id, "chunk": True}, data)
            return
        self.helper.peer.send({"id": self.id, "end": True})
        self.close()

    def close(self):
        os.close(self.fd)
        del self.helper.readings[self.id]
