#include "store/audit_seal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "database.h"

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
    if (!OK(audit_sealer_open(&s, dir, &e)))
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
    if (!OK(audit_sealer_open(&s, dir, &e)))
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
    CHECK_INT(audit_sealer_open(&s, dir, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK(strstr(e.text, "audit.key is missing"));
}

static const struct check_test tests[] = {
    TEST(test_seals_hold_over_restarts),
    TEST(test_a_changed_or_missing_line_is_found),
    TEST(test_seals_do_not_go_back),
    TEST(test_a_crash_between_two_writes_is_settled),
    TEST(test_seals_without_their_key_are_not_gone_on_with),
};
CHECK_MAIN(tests)
