/* Operations on files of a tree that a hostile program owns and changes. */
#include "jar/live_files.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"
#include "spec/bundle.h"

/* The answer of one operation; its bytes are in *answer. An operation with a large answer runs in a
 * process of its own, as a clerk does. */
static int ask(const struct place *p, enum live_file_operation operation, const char *path,
               const char *body, struct buf *answer, struct live_file_record *last, struct err *e)
{
    int ends[2];
    struct buf bytes = { .data = (char *)body, .len = body ? strlen(body) : 0 };
    autoclose int body_fd = -1;
    *e = (struct err){ 0 };
    answer->len = 0;
    CHECK_INT(fd_sealed_memory("unit-test", &bytes, &body_fd, e), 0);
    CHECK_INT(fd_pipe(ends, e), 0);
    autoclose int ours = ends[0], theirs = ends[1];
    pid_t pid = fork();
    if (pid == 0)
        _exit(live_files_do(p->fd, operation, path, body_fd, theirs, e) != 0);
    fd_close(&theirs);
    CHECK_INT(fd_read_to_buf(ours, LIVE_ANSWER_MAX, answer, e), 0);
    CHECK_INT(child_wait(pid), 0);
    return live_answer_read(answer, path, last, e);
}

/* The error of an operation that must fail; ERR_NONE if it did not. */
static enum err_code refusal(const struct place *p, enum live_file_operation operation,
                             const char *path)
{
    scoped(buf) answer = { 0 };
    struct live_file_record last;
    struct err e = { 0 };
    (void)!ask(p, operation, path, "new", &answer, &last, &e);
    return e.code;
}

static bool is_listed(const struct buf *answer, const char *name, struct live_file_row *ret)
{
    for (size_t pos = 0; live_list_next(answer, &pos, ret);)
        if (ret->record.name_len == strlen(name) && memcmp(ret->name, name, strlen(name)) == 0)
            return true;
    return false;
}

static void test_live_files_are_written_read_listed_and_removed(void)
{
    struct place p;
    struct err e;
    struct live_file_record last;
    struct live_file_row row;
    scoped(buf) answer = { 0 };
    if (!place_init(&p))
        return;
    CHECK_INT(ask(&p, LIVE_WRITE, "a/b/c.txt", "hello", &answer, &last, &e), 0);
    CHECK_INT(ask(&p, LIVE_READ, "a/b/c.txt", NULL, &answer, &last, &e), 0);
    CHECK_INT(last.size, 5);
    CHECK(memcmp(answer.data, "hello", 5) == 0 && (last.mode & 07777) == 0644);
    CHECK_INT(fchmodat(p.fd, "a/b/c.txt", 0750, 0), 0);
    CHECK_INT(ask(&p, LIVE_WRITE, "a/b/c.txt", "", &answer, &last, &e), 0);
    CHECK_INT(ask(&p, LIVE_READ, "a/b/c.txt", NULL, &answer, &last, &e), 0);
    CHECK(last.size == 0 && (last.mode & 07777) == 0750); /* it keeps its mode */
    CHECK_INT(ask(&p, LIVE_WRITE, "odd\n\xFF", "x", &answer, &last, &e), 0);
    CHECK_INT(ask(&p, LIVE_LIST, "", NULL, &answer, &last, &e), 0);
    CHECK(is_listed(&answer, "a", &row) && S_ISDIR(row.record.mode));
    CHECK(is_listed(&answer, "a/b/c.txt", &row) && row.record.size == 0);
    CHECK(is_listed(&answer, "odd\n\xFF", &row) && row.record.size == 1);
    CHECK_INT(ask(&p, LIVE_LIST, "a/b", NULL, &answer, &last, &e), 0);
    CHECK(is_listed(&answer, "a/b/c.txt", &row) && !is_listed(&answer, "a", &row));
    CHECK_INT(refusal(&p, LIVE_REMOVE, "a/b"), ERR_CONFLICT); /* it is not empty */
    CHECK_INT(ask(&p, LIVE_REMOVE, "a/b/c.txt", NULL, &answer, &last, &e), 0);
    CHECK_INT(ask(&p, LIVE_REMOVE, "a/b", NULL, &answer, &last, &e), 0);
    CHECK_INT(entries(p.fd, "a"), 0);
    CHECK_INT(entries(p.fd, "."), 2); /* no temporary file is left */
    place_done(&p);
}

static void test_live_files_are_only_regular_files_in_real_directories(void)
{
    static const struct {
        enum live_file_operation operation;
        const char *path;
        enum err_code code;
    } rows[] = {
        { LIVE_READ, "none", ERR_NOT_FOUND },        { LIVE_READ, "none/none", ERR_NOT_FOUND },
        { LIVE_READ, "dir", ERR_CONFLICT },          { LIVE_READ, "fifo", ERR_CONFLICT },
        { LIVE_READ, "link", ERR_CONFLICT },         { LIVE_READ, "out/passwd", ERR_CONFLICT },
        { LIVE_READ, "file/x", ERR_CONFLICT },       { LIVE_READ, "socket", ERR_CONFLICT },
        { LIVE_LIST, "out", ERR_CONFLICT },          { LIVE_LIST, "file", ERR_CONFLICT },
        { LIVE_LIST, "none", ERR_NOT_FOUND },        { LIVE_WRITE, "dir", ERR_CONFLICT },
        { LIVE_WRITE, "fifo", ERR_CONFLICT },        { LIVE_WRITE, "link", ERR_CONFLICT },
        { LIVE_WRITE, "out/x", ERR_CONFLICT },       { LIVE_WRITE, "file/x", ERR_CONFLICT },
        { LIVE_REMOVE, "out/victim", ERR_CONFLICT }, { LIVE_REMOVE, "none", ERR_NOT_FOUND },
        { LIVE_READ, "../outside", ERR_CONFLICT },   { LIVE_WRITE, "../outside", ERR_CONFLICT },
        { LIVE_REMOVE, "../outside", ERR_CONFLICT }, { LIVE_READ, "/etc/passwd", ERR_CONFLICT },
    };
    struct place p, elsewhere;
    scoped(buf) answer = { 0 };
    struct live_file_record last;
    struct err e;
    if (!place_init(&p) || !place_init(&elsewhere))
        return;
    CHECK(place_file(&elsewhere, "victim", "secret", 0644));
    CHECK(place_file(&p, "file", "x", 0644) && mkdirat(p.fd, "dir", 0755) == 0);
    CHECK(mkfifoat(p.fd, "fifo", 0666) == 0 && mknodat(p.fd, "socket", S_IFSOCK | 0666, 0) == 0);
    CHECK(symlinkat("file", p.fd, "link") == 0 && symlinkat(elsewhere.path, p.fd, "out") == 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(refusal(&p, rows[i].operation, rows[i].path), rows[i].code))
            printf("    %d %s\n", (int)rows[i].operation, rows[i].path);
    CHECK(place_has(&elsewhere, "victim") && entries(elsewhere.fd, ".") == 1);
    CHECK_INT(entries(p.fd, "."), 6); /* neither a temporary file nor a new one */
    CHECK_INT(ask(&p, LIVE_REMOVE, "out", NULL, &answer, &last, &e), 0); /* the link itself */
    CHECK(place_has(&elsewhere, "victim"));
    place_done(&p);
    place_done(&elsewhere);
}

/* A name that is a directory at one moment and a link out of the tree at the next. */
struct swap {
    const struct place *p;
    atomic_bool stop;
};

static void *swap_names(void *context)
{
    struct swap *s = context;
    while (!atomic_load(&s->stop))
        if (renameat2(s->p->fd, "d", s->p->fd, "l", RENAME_EXCHANGE) < 0)
            break;
    return NULL;
}

static void test_live_files_never_lead_out_while_names_are_swapped(void)
{
    struct place p, elsewhere;
    pthread_t thread;
    struct swap s = { .p = &p };
    unsigned done = 0;
    if (!place_init(&p) || !place_init(&elsewhere))
        return;
    CHECK(place_file(&elsewhere, "f", "secret", 0644) && mkdirat(p.fd, "d", 0755) == 0);
    CHECK(symlinkat(elsewhere.path, p.fd, "l") == 0);
    CHECK_INT(pthread_create(&thread, NULL, swap_names, &s), 0);
    for (int i = 0; i < 200; i++) {
        scoped(buf) answer = { 0 };
        struct live_file_record last;
        struct err e;
        enum live_file_operation operation = i % 3 == 0   ? LIVE_WRITE
                                             : i % 3 == 1 ? LIVE_READ
                                                          : LIVE_REMOVE;
        done += ask(&p, operation, "d/f", "mine", &answer, &last, &e) == 0;
        CHECK(!answer.data || !memmem(answer.data, answer.len, "secret", 6));
    }
    atomic_store(&s.stop, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    char text[16] = "";
    CHECK_INT(fd_read_file(elsewhere.fd, "f", text, sizeof text), 6);
    CHECK_STR(text, "secret");
    CHECK_INT(entries(elsewhere.fd, "."), 1);
    printf("    %u of 200 operations met the directory\n", done);
    place_done(&p);
    place_done(&elsewhere);
}

static void test_live_files_are_bounded_in_bytes(void)
{
    struct place p;
    scoped(buf) answer = { 0 };
    struct live_file_record last;
    struct err e;
    if (!place_init(&p))
        return;
    CHECK(place_file(&p, "sparse", "", 0644) && place_file(&p, "full", "", 0644));
    autoclose int sparse = openat(p.fd, "sparse", O_WRONLY | O_CLOEXEC),
                  full = openat(p.fd, "full", O_WRONLY | O_CLOEXEC);
    CHECK(ftruncate(sparse, 1 << 30) == 0 && ftruncate(full, LIVE_FILE_BYTES_MAX) == 0);
    CHECK_INT(ask(&p, LIVE_READ, "sparse", NULL, &answer, &last, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    CHECK_INT(answer.len, sizeof last); /* nothing was read */
    CHECK_INT(ask(&p, LIVE_READ, "full", NULL, &answer, &last, &e), 0);
    CHECK_INT(last.size, LIVE_FILE_BYTES_MAX);
    place_done(&p);
}

static void test_list_of_many_live_files_is_cut(void)
{
    struct place p;
    scoped(buf) answer = { 0 };
    struct live_file_record last;
    struct live_file_row row;
    struct err e;
    char name[32];
    size_t n = 0;
    if (!place_init(&p))
        return;
    for (int i = 0; i < LIVE_FILES_LISTED_MAX; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        if (!CHECK_INT(mknodat(p.fd, name, S_IFREG | 0644, 0), 0))
            break;
    }
    CHECK_INT(ask(&p, LIVE_LIST, "", NULL, &answer, &last, &e), 0);
    CHECK_INT(last.status, LIVE_DONE); /* exactly as many as a list may have */
    CHECK(place_file(&p, "more", "", 0644));
    CHECK_INT(ask(&p, LIVE_LIST, "", NULL, &answer, &last, &e), 0);
    CHECK_INT(last.status, LIVE_CUT);
    for (size_t pos = 0; live_list_next(&answer, &pos, &row);)
        n++;
    CHECK_INT(n, LIVE_FILES_LISTED_MAX);
    place_done(&p);
}

static void write_on_little_room(void *context)
{
    struct place *p = context;
    struct place small = *p;
    scoped(buf) answer = { 0 };
    struct live_file_record last;
    struct err e;
    static char large[100001];
    memset(large, 'x', sizeof large - 1);
    CHECK_INT(unshare(CLONE_NEWNS), 0);
    CHECK_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    CHECK_INT(mount("tmpfs", p->path, "tmpfs", 0, "size=65536,nr_inodes=4"), 0);
    small.fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(ask(&small, LIVE_WRITE, "f", "old", &answer, &last, &e), 0);
    CHECK_INT(ask(&small, LIVE_WRITE, "f", large, &answer, &last, &e), -1);
    CHECK(e.code == ERR_QUOTA && strstr(e.text, "'disk'"));
    CHECK(place_file(&small, "g", "", 0644) && place_file(&small, "h", "", 0644));
    CHECK_INT(ask(&small, LIVE_WRITE, "more", "", &answer, &last, &e), -1);
    CHECK(e.code == ERR_QUOTA && strstr(e.text, "'files'"));
    CHECK_INT(ask(&small, LIVE_READ, "f", NULL, &answer, &last, &e), 0);
    CHECK(last.size == 3 && memcmp(answer.data, "old", 3) == 0);
    CHECK_INT(entries(small.fd, "."), 3);
    fd_close(&small.fd);
}

static void test_write_without_room_leaves_the_old_file(void)
{
    struct place p;
    if (geteuid() != 0)
        return SKIP("only root can mount a small file system");
    if (!place_init(&p))
        return;
    CHECK_INT(in_child(write_on_little_room, &p), 0);
    place_done(&p);
}

/* The reader of an answer believes no number in it. */
static void test_answer_about_live_files_is_checked_wherever_it_is_cut(void)
{
    struct place p;
    scoped(buf) answer = { 0 };
    struct live_file_record last;
    struct live_file_row row;
    struct err e;
    if (!place_init(&p))
        return;
    CHECK(place_file(&p, "one", "1", 0644) && place_file(&p, "two", "2", 0644));
    CHECK_INT(ask(&p, LIVE_LIST, "", NULL, &answer, &last, &e), 0);
    for (size_t n = 0; n < answer.len; n++) {
        struct buf cut = { .data = answer.data, .len = n };
        CHECK_INT(live_answer_read(&cut, "", &last, &e), -1);
        CHECK_INT(e.code, ERR_UNAVAILABLE);
    }
    for (size_t at = 0; at < answer.len; at++) {
        char saved = answer.data[at];
        for (int value = 0; value < 256; value += 51) {
            answer.data[at] = (char)value;
            size_t rows = 0;
            if (live_answer_read(&answer, "", &last, &e) == 0)
                for (size_t pos = 0; rows < 100 && live_list_next(&answer, &pos, &row);)
                    rows++;
            CHECK(rows <= 2);
        }
        answer.data[at] = saved;
    }
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_live_files_are_written_read_listed_and_removed),
    TEST(test_live_files_are_only_regular_files_in_real_directories),
    TEST(test_live_files_never_lead_out_while_names_are_swapped),
    TEST(test_live_files_are_bounded_in_bytes),
    TEST(test_list_of_many_live_files_is_cut),
    TEST(test_write_without_room_leaves_the_old_file),
    TEST(test_answer_about_live_files_is_checked_wherever_it_is_cut),
};
CHECK_MAIN(tests)
