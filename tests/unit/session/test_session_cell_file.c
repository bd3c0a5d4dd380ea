#include "session/cell_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/auto.h"
#include "check.h"
#include "place.h"

enum { RECORD_HEAD = 16, LENGTH_AT = 4 }; /* of a record in the file */

static char piece[CELL_FILE_PIECE];

/* A file with a cell that has begun, and the pipe of its program. */
struct cell_place {
    struct place place;
    struct cell_file file;
    int pipe[2];
};

static bool cell_place_init(struct cell_place *p)
{
    struct cell_file_head head = { .number = 7, .started_us = 11, .run = "run_1", .actor = "ada" };
    *p = (struct cell_place){ .file = CELL_FILE_NONE, .pipe = { -1, -1 } };
    if (!place_init(&p->place) || !CHECK_INT(pipe2(p->pipe, O_CLOEXEC | O_NONBLOCK), 0))
        return false;
    p->file.fd = openat(p->place.fd, "cell", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cell_file_begin(&p->file, &head);
    return CHECK(p->file.fd >= 0);
}

static void cell_place_done(struct cell_place *p)
{
    cell_file_done(&p->file);
    fd_close(&p->pipe[0]);
    fd_close(&p->pipe[1]);
    place_done(&p->place);
}

static void print(const struct cell_place *p, const char *text)
{
    CHECK_INT(write(p->pipe[1], text, strlen(text)), strlen(text));
}

static ssize_t take(struct cell_place *p)
{
    return cell_file_splice(&p->file, JOURNAL_STDOUT, 5, p->pipe[0], piece);
}

/* The next keeper opens the file: its records as "kind:bytes ". */
static const char *found(const struct cell_place *p, struct cell_file *again)
{
    static char text[256];
    struct cell_file_head head;
    struct journal_record r = { 0 };
    text[0] = '\0';
    again->fd = openat(p->place.fd, "cell", O_RDWR | O_CLOEXEC);
    if (!CHECK(again->fd >= 0) || !cell_file_read_head(again, &head))
        return "no cell";
    CHECK_INT(head.number, 7);
    CHECK_INT(head.started_us, 11);
    CHECK_STR(head.run, "run_1");
    CHECK_STR(head.actor, "ada");
    while (cell_file_next(again, &r)) {
        size_t n = strlen(text);
        (void)snprintf(text + n, sizeof text - n, "%d:%.*s ", (int)r.kind, (int)r.bytes.len,
                       r.bytes.data);
    }
    buf_done(&r.bytes);
    return text;
}

static const char *found_once(const struct cell_place *p)
{
    struct cell_file again = CELL_FILE_NONE;
    const char *text = found(p, &again);
    cell_file_done(&again);
    return text;
}

/* Records are small here: the length of the last one has one byte. */
static void set_length(const struct cell_place *p, size_t last, uint32_t length)
{
    off_t at = (off_t)(p->file.at - last - RECORD_HEAD + LENGTH_AT);
    CHECK_INT(pwrite(p->file.fd, &length, sizeof length, at), sizeof length);
}

static void test_records_of_a_cell_come_back_in_order(void)
{
    scoped(cell_place) p;
    if (!cell_place_init(&p))
        return;
    print(&p, "one");
    CHECK_INT(take(&p), 3);
    CHECK(memcmp(piece, "one", 3) == 0);
    cell_file_add(&p.file, JOURNAL_FRAME, 6, "frame", 5);
    print(&p, "two");
    CHECK_INT(take(&p), 3);
    CHECK_STR(found_once(&p), "0:one 2:frame 0:two ");
    CHECK_INT(take(&p), -1);
    CHECK_INT(errno, EAGAIN);
    CHECK_STR(found_once(&p), "0:one 2:frame 0:two ");
    fd_close(&p.pipe[1]);
    CHECK_INT(take(&p), 0);
    struct cell_file_head next = { .number = 8 };
    cell_file_begin(&p.file, &next);
    struct cell_file_head head = { 0 };
    CHECK(cell_file_read_head(&p.file, &head) == 1 && head.number == 8);
    struct journal_record r = { 0 };
    CHECK_INT(cell_file_next(&p.file, &r), 0);
    buf_done(&r.bytes);
}

static void test_a_cell_remembers_that_it_waits_for_input(void)
{
    scoped(cell_place) p;
    struct cell_file_head head = { 0 };
    if (!cell_place_init(&p))
        return;
    for (int waits = 1; waits >= 0; waits--) {
        cell_file_set_awaits_input(&p.file, waits);
        struct cell_file again = p.file;
        CHECK(cell_file_read_head(&again, &head) == 1 && head.awaits_input == (uint32_t)waits);
    }
}

static void test_output_over_the_limit_is_cut_from_the_file(void)
{
    scoped(cell_place) p;
    if (!cell_place_init(&p))
        return;
    print(&p, "abcdef");
    CHECK_INT(take(&p), 6);
    cell_file_cut(&p.file, 6, 2);
    print(&p, "gone");
    CHECK_INT(take(&p), 4);
    cell_file_cut(&p.file, 4, 0);
    cell_file_add(&p.file, JOURNAL_FRAME, 6, "end", 3);
    CHECK_STR(found_once(&p), "0:ab 2:end ");
}

/* CELL_FILE-1: the keeper was killed after splice(2), before it wrote the length. */
static void test_bytes_of_an_open_record_are_found_once_and_more_follows(void)
{
    scoped(cell_place) p;
    struct cell_file again = CELL_FILE_NONE;
    if (!cell_place_init(&p))
        return;
    print(&p, "half");
    CHECK_INT(take(&p), 4);
    set_length(&p, 4, UINT32_MAX);
    CHECK_STR(found(&p, &again), "0:half ");
    cell_file_add(&again, JOURNAL_FRAME, 6, "more", 4);
    cell_file_done(&again);
    CHECK_STR(found_once(&p), "0:half 2:more ");
}

/* The keeper was killed within a write: the bytes are still where they came from. */
static void test_a_part_of_a_record_is_removed(void)
{
    scoped(cell_place) p;
    struct cell_file again = CELL_FILE_NONE;
    if (!cell_place_init(&p))
        return;
    cell_file_add(&p.file, JOURNAL_FRAME, 6, "first", 5);
    uint64_t whole = p.file.at;
    cell_file_add(&p.file, JOURNAL_FRAME, 7, "second", 6);
    for (uint64_t size = whole; size < p.file.at; size++) {
        CHECK_INT(ftruncate(p.file.fd, (off_t)size), 0);
        CHECK_STR(found_once(&p), "2:first ");
        p.file.at = whole;
        cell_file_add(&p.file, JOURNAL_FRAME, 7, "second", 6);
    }
    CHECK_INT(ftruncate(p.file.fd, (off_t)p.file.at - 1), 0);
    CHECK_STR(found(&p, &again), "2:first ");
    cell_file_add(&again, JOURNAL_FRAME, 7, "other", 5);
    cell_file_done(&again);
    CHECK_STR(found_once(&p), "2:first 2:other ");
}

/* CELL_FILE-3 */
static void test_lengths_and_kinds_of_a_file_are_not_believed(void)
{
    static const uint32_t lengths[] = { 0, 6, 100, 0x7fffffff, 0xfffffffe };
    scoped(cell_place) p;
    if (!cell_place_init(&p))
        return;
    uint64_t start = p.file.at;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        p.file.at = start;
        cell_file_add(&p.file, JOURNAL_FRAME, 6, "frame", 5);
        set_length(&p, 5, lengths[i]);
        CHECK_STR(found_once(&p), "");
    }
    p.file.at = start;
    cell_file_add(&p.file, JOURNAL_KINDS, 6, "frame", 5);
    CHECK_STR(found_once(&p), "");
    CHECK_INT(ftruncate(p.file.fd, (off_t)start - 1), 0);
    CHECK_STR(found_once(&p), "no cell");
    CHECK_INT(pwrite(p.file.fd, "?", 1, 0), 1);
    CHECK_INT(ftruncate(p.file.fd, (off_t)start), 0);
    CHECK_STR(found_once(&p), "no cell");
}

/* CELL_FILE-2: the disk is full at each byte of a record. */
static void test_a_file_that_cannot_be_written_to_is_empty(void)
{
    struct rlimit all;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    if (!CHECK_INT(getrlimit(RLIMIT_FSIZE, &all), 0))
        return;
    for (rlim_t room = 0; room < RECORD_HEAD + 4; room++) {
        scoped(cell_place) p;
        if (!cell_place_init(&p))
            return;
        struct rlimit little = { p.file.at + room, all.rlim_max };
        print(&p, "text");
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &little), 0);
        if (room % 2)
            cell_file_add(&p.file, JOURNAL_FRAME, 6, "text", 4);
        else
            while (p.file.fd >= 0 && take(&p) > 0) { /* a splice may move a part */
            }
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &all), 0);
        CHECK_INT(p.file.fd, -1);
        CHECK_STR(found_once(&p), "no cell");
    }
    (void)signal(SIGXFSZ, before);
}

static const struct check_test tests[] = {
    TEST(test_records_of_a_cell_come_back_in_order),
    TEST(test_a_cell_remembers_that_it_waits_for_input),
    TEST(test_output_over_the_limit_is_cut_from_the_file),
    TEST(test_bytes_of_an_open_record_are_found_once_and_more_follows),
    TEST(test_a_part_of_a_record_is_removed),
    TEST(test_lengths_and_kinds_of_a_file_are_not_believed),
    TEST(test_a_file_that_cannot_be_written_to_is_empty),
};
CHECK_MAIN(tests)
