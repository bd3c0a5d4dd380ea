"""Images of the session programs of bash and SQLite, bare: no jar, and the test at the other end of their channels."""
import os
import pathlib

import pytest

from channel import Program
from harness import BELLJAR

pytestmark = pytest.mark.release_only  # the programs are built without sanitizers
GUEST = pathlib.Path(BELLJAR).parent / "guest"
COMMANDS = {"bash": [str(GUEST / "bash/bash")], "sqlite": [str(GUEST / "sqlite/sqlite"), "--session"]}
SETUP = {"bash": "x=5", "sqlite": "CREATE TABLE t(x); INSERT INTO t VALUES (5)"}
LOOK = {"bash": "echo $x", "sqlite": "SELECT x FROM t"}
languages = pytest.mark.parametrize("language", list(COMMANDS))


def seen(reply):
    assert reply["status"] == "ok", reply
    return (reply["stdout"] or reply.first("result")["bundle"]["text/csv"]).split()[-1]


def start(language):
    return Program(COMMANDS[language], env={"PATH": "/usr/bin:/bin"})


@pytest.fixture(scope="module", params=list(COMMANDS))
def image(request):
    """The language, and the bytes of an image."""
    with start(request.param) as program:
        program.run(SETUP[request.param])
        answer, report, fd = program.write_image()
        assert answer["not_carried"] == [] and report.startswith("ok "), (answer, report)
        assert seen(program.run(LOOK[request.param])) == "5"
    data = os.pread(fd, os.fstat(fd).st_size, 0)
    assert len(data) == int(report.split()[1])
    os.close(fd)
    return request.param, data


def become(program, data):
    fd = os.memfd_create("image", os.MFD_CLOEXEC)
    os.pwrite(fd, data, 0)
    try:
        return program.become(fd)
    finally:
        os.close(fd)


def test_other_processes_become_an_image(image):
    language, data = image
    for _ in range(3):  # each has a layout of its own
        with start(language) as program:
            assert become(program, data) is None
            assert seen(program.run(LOOK[language])) == "5"
            again, _, fd = program.write_image()
            assert again["not_carried"] == [], again
            with start(language) as third:
                assert third.become(fd) is None
                assert seen(third.run(LOOK[language])) == "5"
            os.close(fd)


def number(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def changed(data, at, value):
    return data[:at] + value.to_bytes(8, "little") + data[at + 8:]


def test_a_broken_image_is_refused_and_the_program_goes_on(image):
    language, data = image
    broken = {"cut short": [b"", changed(data, 8, (1 << 64) - 1)],
              "no whole image": [data[:100], data[:-4096], b"X" + data[1:]],
              "too many mappings": [changed(data, number(data, 8) + 16, 1 << 30)],
              "another version of the Linux kernel": [changed(data, number(data, 8) + 64, 1)]}
    with start(language) as program:
        for why, images in broken.items():
            for one in images:
                assert why in become(program, one), why
        program.run(SETUP[language])
        assert seen(program.run(LOOK[language])) == "5"


def test_a_forged_image_harms_only_the_process_that_becomes_it(image):
    """Each number of the head and of the first mapping, replaced by others: the image, a refusal, or the end."""
    language, data = image
    head = number(data, 8)
    maps = number(data, head + 24)
    outcomes = set()
    for at in [head + 8 * i for i in range(9)] + [maps + 8 * i for i in range(7)]:
        for value in (0, 1 << 40, (1 << 64) - 4096):
            with start(language) as program:
                why = become(program, changed(data, at, value))
                assert why is None or isinstance(why, str), (at, value)
                outcomes.add(why)
    assert len(outcomes) > 3, outcomes


@languages
def test_an_image_without_room_is_refused(language):
    with start(language) as program:
        program.run(SETUP[language])
        answer, report, fd = program.write_image(room=8192)
        assert "there is room for" in report, (answer, report)
        os.close(fd)
        assert seen(program.run(LOOK[language])) == "5"


@languages
def test_a_request_without_its_descriptors_is_refused(language):
    with start(language) as program:
        assert "without its descriptors" in program.ask(7, ("flags", ""), ("room", "4096"))["failed"]
        assert "without its descriptor" in program.ask(8, ("flags", ""))["failed"]
        program.run(SETUP[language])
        assert seen(program.run(LOOK[language])) == "5"


def test_children_of_a_shell_see_no_library_of_ours():
    with Program(COMMANDS["bash"], env={"PATH": "/usr/bin:/bin", "A": "1", "LD_PRELOAD": "libm.so.6"}) as program:
        found = program.run("env | grep -c LD_PRELOAD=libm.so.6$; grep -c belljar_image /proc/self/maps")
        assert found["stdout"] == "1\n0\n"
    with Program(COMMANDS["bash"], env={"PATH": "/usr/bin:/bin", "A": "1"}) as program:
        found = program.run("env | grep -c LD_PRELOAD; echo $A; bash -c 'grep -c belljar_image /proc/$$/maps'")
        assert found["stdout"] == "0\n1\n0\n"


def test_a_byte_of_a_cell_is_no_request():
    """The byte that begins a request in the script is a byte like others for the cell."""
    with start("bash") as program:
        text = program.run("printf '\\001look\\n' >b; read -r line <b; printf '%s' \"$line\" | od -An -c\n"
                           "echo '\x01look' | cat")
        assert text["stdout"].split() == ["001", "l", "o", "o", "k", "\x01look"], text


def test_the_shell_goes_on_while_its_image_is_written():
    with start("bash") as program:
        program.run("big=$(head -c 60000000 /dev/zero | tr '\\0' z)")
        images = []
        for i in range(3):
            answer, report, fd = program.write_image()
            assert report.startswith("ok ") and answer["not_carried"] == [], (answer, report)
            images.append(fd)
            assert program.run(f"x={i}; wait; jobs; (exit 0) & wait $!; echo $?")["stdout"] == "0\n"
        for i, fd in enumerate(images):
            with start("bash") as copy:
                assert copy.become(fd) is None
                assert copy.run("echo ${#big} $x")["stdout"].split() == ["60000000", *([str(i - 1)] if i else [])]
            os.close(fd)
