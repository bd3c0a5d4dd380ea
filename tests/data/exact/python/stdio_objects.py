import io, sys
for f in (sys.stdin, sys.stdout, sys.stderr):
    print(f.name, f.mode, f.encoding, f.errors, f.line_buffering, f.write_through, repr(f.newlines), f.isatty(), f.fileno(),
          f.readable(), f.writable(), f.seekable(), f.closed, type(f).__name__, type(f.buffer).__name__, f.buffer.name, f.buffer.mode)
    raw = getattr(f.buffer, "raw", f.buffer)
    print(type(raw).__name__, raw.name, raw.mode, raw.closefd, raw._blksize, repr(f), repr(f.buffer), repr(raw))
    try:
        f.tell()
    except OSError as e:
        print(type(e), e)
    try:
        f.seek(0)
    except OSError as e:
        print(type(e), e)
