#include "store/audit_sealer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "database.h"

/* Seals of a block: few, so that a test has many blocks. */
enum { BLOCK = 4 };

static int dir_of(const struct place *p)
{
    return open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool read_file(int dir, const char *name, struct buf *ret)
{
    struct err e = { 0 };
    autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && OK(fd_read_to_buf(fd, 1 << 20, ret, &e));
}

static bool write_file(int dir, const char *name, const struct buf *b)
{
    autoclose int fd = openat(dir, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    return CHECK(fd >= 0) && CHECK(write(fd, b->data, b->len) == (ssize_t)b->len);
}

static bool seal(int dir, int64_t seq)
{
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    uint8_t head[DIGEST_BYTES] = { (uint8_t)seq };
    if (!OK(audit_sealer_open(&s, dir, BLOCK, &e)))
        return false;
    bool ok = OK(audit_sealer_seal(s, seq, head, 1000 + seq, &e));
    audit_sealer_close(s);
    return ok;
}

static int count(int dir)
{
    struct err e = { 0 };
    scoped(audit_seals) all = { 0 };
    if (audit_seals_read(&all, dir, &e))
        return -1;
    return (int)all.n;
}

static void test_seals_hold_over_restarts(void)
{
    scoped(place) p;
    scoped(audit_seals) all = { 0 };
    struct err e = { 0 };
    struct stat st;
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    for (int64_t seq = 1; seq <= 5; seq++)
        CHECK(seal(dir, seq * 10));
    if (!OK(audit_seals_read(&all, dir, &e)) || !CHECK_INT(all.n, 5))
        return;
    CHECK_INT(all.n_blocks, 2);
    CHECK(all.at[4].epoch == 4 && all.at[4].seq == 50 && all.at[4].time_ms == 1050);
    CHECK(all.at[4].head[0] == 50);
    CHECK(fstatat(dir, "audit.key", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
}

static void test_a_changed_or_missing_line_is_found(void)
{
    scoped(place) p;
    scoped(buf) text = { 0 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    for (int64_t seq = 1; seq <= 3; seq++)
        CHECK(seal(dir, seq));
    if (!CHECK(read_file(dir, "audit.seals", &text)))
        return;
    for (size_t at = 4; at < text.len; at += 7) { /* any byte */
        char was = text.data[at];
        if (was == '\n')
            continue;
        text.data[at] = was == '1' ? '2' : '1';
        CHECK(write_file(dir, "audit.seals", &text));
        if (!CHECK_INT(count(dir), -1))
            printf("    byte %zu\n", at);
        text.data[at] = was;
    }
    char *second = strchr(strchr(text.data, '\n') + 1, '\n') + 1;
    size_t line = (size_t)(strchr(second, '\n') + 1 - second);
    memmove(second, second + line, text.len - (size_t)(second - text.data) - line);
    text.len -= line;
    CHECK(write_file(dir, "audit.seals", &text));
    CHECK_INT(count(dir), -1);
}

static void test_seals_do_not_go_back(void)
{
    scoped(place) p;
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    uint8_t head[DIGEST_BYTES] = { 7 }, other[DIGEST_BYTES] = { 8 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    if (!OK(audit_sealer_open(&s, dir, BLOCK, &e)))
        return;
    OK(audit_sealer_seal(s, 7, head, 1, &e));
    OK(audit_sealer_seal(s, 7, head, 2, &e)); /* nothing new */
    CHECK_INT(audit_sealer_seal(s, 7, other, 3, &e), -1);
    CHECK_INT(audit_sealer_seal(s, 6, other, 3, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    audit_sealer_close(s);
    CHECK_INT(count(dir), 1);
}

/* The seal was written and its key was not overwritten yet, or half a seal was written. */
static void test_a_crash_between_two_writes_is_settled(void)
{
    scoped(place) p;
    scoped(buf) key = { 0 }, now = { 0 }, text = { 0 };
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    CHECK(seal(dir, 1));
    if (!CHECK(read_file(dir, "audit.key", &key)))
        return;
    CHECK(seal(dir, 2));
    CHECK(write_file(dir, "audit.key", &key));
    CHECK(seal(dir, 3));
    CHECK_INT(count(dir), 3);
    CHECK(read_file(dir, "audit.key", &now) && memcmp(now.data, key.data, key.len) != 0);
    if (!CHECK(read_file(dir, "audit.seals", &text)))
        return;
    OK(buf_addf(&text, &e, "seal 3 4 abc"));
    CHECK(write_file(dir, "audit.seals", &text));
    CHECK(seal(dir, 5));
    CHECK_INT(count(dir), 4);
}

static void test_seals_without_their_key_are_not_gone_on_with(void)
{
    scoped(place) p;
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    CHECK(seal(dir, 1));
    CHECK(unlinkat(dir, "audit.key", 0) == 0);
    CHECK_INT(audit_sealer_open(&s, dir, BLOCK, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK(strstr(e.text, "audit.key is missing"));
}

/* ---- a key that cannot be written ---- */

/* A link in place of the file: it is not followed, so nothing can be written. */
static bool hide_key(int dir)
{
    return CHECK(renameat(dir, "audit.key", dir, "hidden") == 0) &&
           CHECK(symlinkat("hidden", dir, "audit.key") == 0);
}

static bool show_key(int dir)
{
    return CHECK(unlinkat(dir, "audit.key", 0) == 0) &&
           CHECK(renameat(dir, "hidden", dir, "audit.key") == 0);
}

static int seal_with(struct audit_sealer *s, int64_t seq)
{
    struct err e = { 0 };
    uint8_t head[DIGEST_BYTES] = { (uint8_t)seq };
    return audit_sealer_seal(s, seq, head, 1000 + seq, &e);
}

/* With a seal alone, and with the line of a block before it. */
static void test_a_key_that_cannot_be_written_breaks_no_chain(void)
{
    for (int before = 1; before <= BLOCK; before++) {
        scoped(place) p;
        struct err e = { 0 };
        struct audit_sealer *s = NULL;
        if (!place_init(&p))
            return;
        autoclose int dir = dir_of(&p);
        for (int64_t seq = 1; seq < before; seq++)
            CHECK(seal(dir, seq));
        if (!OK(audit_sealer_open(&s, dir, BLOCK, &e)))
            return;
        CHECK_INT(seal_with(s, before), 0);
        if (!hide_key(dir))
            return;
        int sealed = count(dir);
        CHECK_INT(seal_with(s, before + 1), -1); /* or the line of a block, and then it stops */
        int now = count(dir);
        CHECK(now == sealed + (before < BLOCK));
        CHECK_INT(seal_with(s, before + 2), -1);
        CHECK_INT(count(dir), now); /* no seal of a key that is not on the disk */
        audit_sealer_close(s);
        s = NULL;
        if (!show_key(dir))
            return;
        CHECK(seal(dir, before + 3)); /* after a restart with the older key */
        CHECK(seal(dir, before + 4));
        CHECK_INT(count(dir), now + 2);
    }
}

static void test_sealing_goes_on_when_the_key_can_be_written_again(void)
{
    scoped(place) p;
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    if (!OK(audit_sealer_open(&s, dir, BLOCK, &e)) || !CHECK(hide_key(dir)))
        return;
    CHECK_INT(seal_with(s, 1), -1);
    CHECK_INT(seal_with(s, 2), -1);
    CHECK(show_key(dir));
    CHECK_INT(seal_with(s, 3), 0);
    CHECK_INT(count(dir), 2);
    audit_sealer_close(s);
    CHECK(seal(dir, 4));
    CHECK_INT(count(dir), 3);
}

/* A crash between the new secret and the zeros over the old one, and in the middle of the former. */
static void test_a_half_written_key_is_settled(void)
{
    enum { PLACE = 4096, KEY = 104 };
    scoped(place) p;
    scoped(buf) old = { 0 }, new = { 0 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    CHECK(seal(dir, 1) && read_file(dir, "audit.key", &old));
    CHECK(seal(dir, 2) && read_file(dir, "audit.key", &new));
    if (!CHECK(old.len == PLACE + KEY && new.len == PLACE + KEY))
        return;
    int has = memcmp(old.data, "BLJRKEY2", 8) == 0 ? 0 : PLACE;
    CHECK(memcmp(old.data + has, "BLJRKEY2", 8) == 0);
    for (int torn = 0; torn <= KEY;
         torn += 26) { /* a part of the new one beside the whole old one */
        scoped(buf) both = { 0 };
        struct err e = { 0 };
        OK(buf_add(&both, old.data, old.len, &e));
        int to = memcmp(new.data, "BLJRKEY2", 8) == 0 ? 0 : PLACE;
        if (to == has) /* a start writes the key, too: the places took turns twice */
            memcpy(both.data + (PLACE - to), new.data + to, (size_t)torn);
        else
            memcpy(both.data + to, new.data + to, (size_t)torn);
        CHECK(write_file(dir, "audit.key", &both));
        CHECK(seal(dir, 3 + torn));
        CHECK_INT(count(dir), 3 + torn / 26);
        CHECK(write_file(dir, "audit.key", &old)); /* far behind: it catches up */
    }
}

static void test_an_older_key_file_is_gone_on_with(void)
{
    enum { OLD = 48 };
    scoped(place) p;
    scoped(buf) key = { 0 }, text = { 0 }, now = { 0 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    CHECK(seal(dir, 1) && seal(dir, 2) && read_file(dir, "audit.key", &key));
    CHECK(read_file(dir, "audit.seals", &text));
    char *at = memmem(key.data, key.len, "BLJRKEY2", 8);
    char *block = memmem(text.data, text.len, "block ", 6);
    if (!CHECK(at && block))
        return;
    memmove(key.data, at, OLD);
    memcpy(key.data, "BLJRSEAL", 8);
    key.len = OLD;
    char *seals = strchr(block, '\n') + 1;
    memmove(block, seals, text.len - (size_t)(seals - text.data));
    text.len -= (size_t)(seals - block);
    CHECK(write_file(dir, "audit.key", &key) && write_file(dir, "audit.seals", &text));
    CHECK_INT(count(dir), 2);
    for (int64_t seq = 3; seq <= 9; seq++)
        CHECK(seal(dir, seq));
    CHECK_INT(count(dir), 9);
    CHECK(read_file(dir, "audit.key", &now) && !memmem(now.data, now.len, key.data + 16, 32));
}

static void test_seals_that_were_cut_off_are_not_gone_on_with(void)
{
    scoped(place) p;
    scoped(buf) text = { 0 };
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    CHECK(seal(dir, 1) && read_file(dir, "audit.seals", &text));
    CHECK(seal(dir, 2) && seal(dir, 3));
    CHECK(write_file(dir, "audit.seals", &text));
    CHECK_INT(audit_sealer_open(&s, dir, BLOCK, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK(strstr(e.text, "seals are missing"));
}

static void test_a_step_is_bounded(void)
{
    scoped(place) p;
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    uint8_t head[DIGEST_BYTES] = { 1 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    if (!OK(audit_sealer_open(&s, dir, BLOCK, &e)))
        return;
    CHECK_INT(audit_sealer_seal(s, INT64_MAX, head, 1000, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    OK(audit_sealer_seal(s, 5000000, head, 1000, &e)); /* the log is older than its seals */
    CHECK_INT(audit_sealer_seal(s, INT64_MAX, head, INT64_MAX, &e), -1);
    CHECK_INT(audit_sealer_seal(s, 5300001, head, 3000, &e), -1);
    CHECK_INT(audit_sealer_seal(s, 5200001, head, 500, &e), -1); /* the clock was set back */
    OK(audit_sealer_seal(s, 5300000, head, 3000, &e));
    audit_sealer_close(s);
    CHECK_INT(count(dir), 2);
}

/* ---- a bounded file ---- */

static int64_t size_of(int dir)
{
    struct stat st;
    return fstatat(dir, "audit.seals", &st, 0) == 0 ? st.st_size : -1;
}

static bool make_seals(int dir, int64_t n, int64_t removed)
{
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    bool ok = OK(audit_sealer_open(&s, dir, BLOCK, &e));
    for (int64_t seq = 1; seq <= n && ok; seq++)
        ok = CHECK_INT(seal_with(s, seq), 0);
    ok = ok && OK(audit_sealer_drop(s, removed, &e));
    audit_sealer_close(s);
    return ok;
}

static void test_seals_of_removed_records_are_dropped(void)
{
    scoped(place) p;
    scoped(audit_seals) all = { 0 };
    struct err e = { 0 };
    struct audit_sealer *s = NULL;
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    if (!make_seals(dir, 22, 0) || !CHECK_INT(count(dir), 22) ||
        !OK(audit_sealer_open(&s, dir, BLOCK, &e)))
        return;
    int64_t before = size_of(dir);
    OK(audit_sealer_drop(s, 4, &e)); /* the seal of record 4 may be the one that covers it */
    CHECK_INT(size_of(dir), before);
    OK(audit_sealer_drop(s, 11, &e)); /* blocks 0 and 1 are about records 1 to 8 */
    CHECK(size_of(dir) < before);
    if (!OK(audit_seals_read(&all, dir, &e)))
        return;
    CHECK(all.n == 14 && all.dropped == 8 && all.dropped_seq == 8 && all.n_blocks == 6);
    CHECK(all.at[0].seq == 9 && all.at[13].seq == 22);
    audit_seals_done(&all);
    OK(audit_sealer_drop(s, 1000, &e)); /* never the current block */
    CHECK_INT(seal_with(s, 23), 0);
    audit_sealer_close(s);
    CHECK(seal(dir, 24) && seal(dir, 25));
    if (!OK(audit_seals_read(&all, dir, &e)))
        return;
    CHECK(all.n == 5 && all.dropped == 20 && all.dropped_seq == 20 && all.at[0].seq == 21);
}

/* A file of many blocks, most of which are dropped, has a line for each of them. */
static void test_dropped_seals_leave_one_line_a_block(void)
{
    scoped(place) p;
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    CHECK(make_seals(dir, 80, 79));
    CHECK(size_of(dir) < (int64_t)512 * (2 + 80 / BLOCK + BLOCK));
    CHECK_INT(count(dir), 4);
}

static void test_a_changed_or_missing_line_of_a_block_is_found(void)
{
    scoped(place) p;
    scoped(buf) text = { 0 }, other = { 0 };
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    autoclose int dir = dir_of(&p);
    if (!make_seals(dir, 14, 9) || !CHECK(read_file(dir, "audit.seals", &text)))
        return;
    CHECK_INT(count(dir), 6);
    for (size_t at = 4; at < text.len; at += 11) {
        char was = text.data[at];
        if (was == '\n')
            continue;
        text.data[at] = was == '1' ? '2' : '1';
        CHECK(write_file(dir, "audit.seals", &text));
        if (!CHECK_INT(count(dir), -1))
            printf("    byte %zu\n", at);
        text.data[at] = was;
    }
    /* Without one line: only the last seal is not missed, and the last line of a block, whose seals
     * follow from those before it. */
    for (char *line = text.data, *next; (next = strchr(line, '\n') + 1) < text.data + text.len;
         line = next) {
        buf_done(&other);
        OK(buf_add(&other, text.data, (size_t)(line - text.data), &e));
        OK(buf_add(&other, next, text.len - (size_t)(next - text.data), &e));
        CHECK(write_file(dir, "audit.seals", &other));
        bool last = strncmp(line, "block 3 ", 8) == 0;
        if (!CHECK_INT(count(dir), last ? 6 : -1))
            printf("    line %.40s\n", line);
    }
}

static const struct check_test tests[] = {
    TEST(test_seals_hold_over_restarts),
    TEST(test_a_changed_or_missing_line_is_found),
    TEST(test_seals_do_not_go_back),
    TEST(test_a_crash_between_two_writes_is_settled),
    TEST(test_seals_without_their_key_are_not_gone_on_with),
    TEST(test_a_key_that_cannot_be_written_breaks_no_chain),
    TEST(test_sealing_goes_on_when_the_key_can_be_written_again),
    TEST(test_a_half_written_key_is_settled),
    TEST(test_an_older_key_file_is_gone_on_with),
    TEST(test_seals_that_were_cut_off_are_not_gone_on_with),
    TEST(test_a_step_is_bounded),
    TEST(test_seals_of_removed_records_are_dropped),
    TEST(test_dropped_seals_leave_one_line_a_block),
    TEST(test_a_changed_or_missing_line_of_a_block_is_found),
};
CHECK_MAIN(tests)
