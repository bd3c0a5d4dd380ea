#include "run/journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "check.h"

static struct err e;

static int scratch(void)
{
    char path[] = "/tmp/belljar-journal-XXXXXX";
    if (!mkdtemp(path))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)rmdir(path); /* the descriptor is enough for files without a name */
    return fd;
}

static void add(struct journal *j, enum journal_kind kind, uint64_t time, const char *text)
{
    CHECK(journal_add(j, kind, time, text, strlen(text), &e) == 0);
}

static void test_records_come_back_in_order_with_their_times(void)
{
    struct journal j;
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    bool more;
    journal_init(&j, -1);
    CHECK(journal_next(&j, &at, &r, &more, &e) == 0 && !more);
    add(&j, JOURNAL_STDOUT, 10, "one");
    add(&j, JOURNAL_STDERR, 20, "two");
    CHECK(journal_next(&j, &at, &r, &more, &e) == 0 && more);
    CHECK_STR(r.bytes.data, "one");
    CHECK_INT(r.kind, JOURNAL_STDOUT);
    CHECK_INT(r.time_us, 10);
    CHECK_INT(r.number, 1);
    CHECK(journal_next(&j, &at, &r, &more, &e) == 0 && more);
    CHECK_STR(r.bytes.data, "two");
    CHECK_INT(r.kind, JOURNAL_STDERR);
    CHECK(journal_next(&j, &at, &r, &more, &e) == 0 && !more);
    add(&j, JOURNAL_STDOUT, 30, "three"); /* a reader at the end goes on when there is more */
    CHECK(journal_next(&j, &at, &r, &more, &e) == 0 && more);
    CHECK_STR(r.bytes.data, "three");
    CHECK_INT(j.records, 3);
    CHECK_INT(j.stream_bytes[JOURNAL_STDOUT], 8);
    buf_done(&r.bytes);
    journal_done(&j);
}

static void test_memory_is_bounded_and_readers_do_not_notice(void)
{
    autoclose int dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct journal j;
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    bool more = true;
    char block[10000];
    int seen = 0;
    journal_init(&j, dir);
    for (int i = 0; i < 100; i++) {
        memset(block, 'a' + i % 26, sizeof block);
        CHECK(journal_add(&j, i % 2 ? JOURNAL_STDERR : JOURNAL_STDOUT, (uint64_t)i, block,
                          sizeof block, &e) == 0);
        CHECK(j.memory.len <= JOURNAL_MEMORY);
        CHECK(journal_next(&j, &at, &r, &more, &e) == 0 && more);
        seen += r.bytes.len == sizeof block && r.bytes.data[0] == 'a' + i % 26;
    }
    CHECK_INT(seen, 100);
    CHECK(j.fd >= 0);
    scoped(buf) out = { 0 };
    CHECK(journal_collect(&j, JOURNAL_STDERR, 25000, &out, &e) == 0);
    CHECK_INT(out.len, 25000);
    CHECK(out.data[0] == 'b' && out.data[10000] == 'd' && out.data[20000] == 'f');
    buf_done(&r.bytes);
    journal_done(&j);
}

static void test_output_that_cannot_be_kept_is_an_error(void)
{
    autoclose int gone = scratch();
    struct journal j;
    char block[JOURNAL_MEMORY];
    memset(block, 'x', sizeof block);
    journal_init(&j, gone);
    CHECK(journal_add(&j, JOURNAL_STDOUT, 0, block, sizeof block, &e) == -1);
    CHECK_INT(e.code, ERR_KERNEL);
    CHECK_INT(j.records, 0);
    journal_done(&j);
}

static void test_kept_journal_opens_again_and_a_torn_one_up_to_its_tear(void)
{
    struct journal j, again;
    journal_init(&j, -1);
    add(&j, JOURNAL_STDOUT, 1, "whole");
    add(&j, JOURNAL_STDOUT, 2, "torn");
    CHECK(journal_open(&again, &j.memory, -1, "", &e) == 0);
    CHECK_INT(again.records, 2);
    CHECK_INT(again.stream_bytes[JOURNAL_STDOUT], 9);
    journal_done(&again);
    struct buf torn = j.memory;
    torn.len -= 2;
    CHECK(journal_open(&again, &torn, -1, "", &e) == 0);
    CHECK_INT(again.records, 1);
    scoped(buf) out = { 0 };
    CHECK(journal_collect(&again, JOURNAL_STDOUT, 100, &out, &e) == 0);
    CHECK_STR(buf_str(&out), "whole");
    journal_done(&again);
    journal_done(&j);
}

static const struct check_test tests[] = {
    TEST(test_records_come_back_in_order_with_their_times),
    TEST(test_memory_is_bounded_and_readers_do_not_notice),
    TEST(test_output_that_cannot_be_kept_is_an_error),
    TEST(test_kept_journal_opens_again_and_a_torn_one_up_to_its_tear),
};
CHECK_MAIN(tests)
