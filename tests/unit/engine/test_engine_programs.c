#include "engine/programs.h"

#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "place.h"
#include "run/program_disk.h"
#include "spec/bundle.h"

static const struct language lang = {
    .name = "lang",
    .command = WORDS("./{program}"),
    .compile = WORDS("/bin/cc", "{sources}"),
    .extensions = WORDS(".c"),
    .env = WORDS("A=1"),
    .products = WORDS("program"),
    .version = WORDS("/bin/sh"),
};
static const char *const other_command[] = { "/bin/gcc", "{sources}", NULL };
static const char *const other_env[] = { "A=2", NULL };
static const char *const other_version[] = { "/bin/ls", NULL };
static struct err e;

/* ---- keys ---- */

struct asked {
    struct language language;
    struct jar_request q;
    struct buf files;
    enum level level;
    char *args[3], *sources[3], *outputs[2];
};

static void usual(struct asked *a)
{
    *a = (struct asked){ .language = lang, .level = LEVEL_JAR };
    a->args[0] = (char *)"-O2";
    a->sources[0] = (char *)"main.c";
    a->outputs[0] = (char *)"program";
    a->q = (struct jar_request){ .language = &a->language,
                                 .command = a->language.compile,
                                 .language_env = a->language.env,
                                 .main_name = "main.c",
                                 .args = a->args,
                                 .sources = a->sources,
                                 .outputs = a->outputs,
                                 .limits = limits_default() };
    CHECK_INT(bundle_add(&a->files, "main.c", 0644, "code", 4, &e), 0);
}

static void change_code(struct asked *a)
{
    a->files.data[a->files.len - 1] = 'x';
}
static void change_mode(struct asked *a)
{
    a->files.len = 0;
    CHECK_INT(bundle_add(&a->files, "main.c", 0755, "code", 4, &e), 0);
}
static void change_file_name(struct asked *a)
{
    a->files.len = 0;
    CHECK_INT(bundle_add(&a->files, "main.d", 0644, "code", 4, &e), 0);
}
static void add_file(struct asked *a)
{
    CHECK_INT(bundle_add(&a->files, "other.h", 0644, "", 0, &e), 0);
}
static void change_argument(struct asked *a)
{
    a->args[0] = (char *)"-O3";
}
static void add_argument(struct asked *a)
{
    a->args[1] = (char *)"";
}
static void split_argument(struct asked *a)
{
    a->args[0] = (char *)"-O";
    a->args[1] = (char *)"2";
}
static void change_command(struct asked *a)
{
    a->q.command = other_command;
}
static void change_environment(struct asked *a)
{
    a->q.language_env = other_env;
}
static void change_sources(struct asked *a)
{
    a->sources[1] = (char *)"b.c";
}
static void change_main(struct asked *a)
{
    a->q.main_name = "b.c";
}
static void change_products(struct asked *a)
{
    a->outputs[0] = (char *)".";
}
static void change_language(struct asked *a)
{
    a->language.name = "lang2";
}
static void change_level(struct asked *a)
{
    a->level = LEVEL_ROOTLESS;
}
static void change_toolchain(struct asked *a)
{
    a->language.version = other_version;
}

static void key_of(struct asked *a, char out[PROGRAM_KEY_SIZE])
{
    CHECK_INT(program_key(out, &a->q, a->level, &a->files, &e), 0);
}

static void test_key_changes_with_everything_a_compiler_could_see(void)
{
    static void (*const changes[])(struct asked *) = {
        change_code,     change_mode,    change_file_name, add_file,       change_argument,
        add_argument,    split_argument, change_command,   change_sources, change_environment,
        change_products, change_main,    change_language,  change_level,   change_toolchain,
    };
    enum { N = ARRAY_LEN(changes) };
    char keys[N + 1][PROGRAM_KEY_SIZE], again[PROGRAM_KEY_SIZE];
    for (size_t i = 0; i <= N; i++) {
        struct asked a;
        usual(&a);
        if (i < N)
            changes[i](&a);
        key_of(&a, keys[i]);
        key_of(&a, again);
        CHECK_STR(again, keys[i]);
        CHECK_INT(strlen(keys[i]), PROGRAM_KEY_SIZE - 1);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(keys[k], keys[i]) != 0);
        buf_done(&a.files);
    }
}

static void test_key_does_not_change_with_what_it_may_take(void)
{
    struct asked a;
    char one[PROGRAM_KEY_SIZE], other[PROGRAM_KEY_SIZE];
    usual(&a);
    key_of(&a, one);
    a.q.limits.v[LIMIT_WALL_MS] = 1;
    a.q.id = 77;
    key_of(&a, other);
    CHECK_STR(other, one);
    buf_done(&a.files);
}

static void test_key_changes_when_the_compiler_is_replaced(void)
{
    scoped(place) p;
    struct asked a;
    char path[300], one[PROGRAM_KEY_SIZE], other[PROGRAM_KEY_SIZE];
    if (!place_init(&p) || !place_file(&p, "cc", "first", 0755))
        return;
    (void)snprintf(path, sizeof path, "%s/cc", p.path);
    usual(&a);
    a.q.command = WORDS(path);
    key_of(&a, one);
    const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
    key_of(&a, other);
    CHECK(strcmp(one, other) != 0);
    buf_done(&a.files);
}

/* ---- asking ---- */

struct asker {
    struct program_request request;
    int answers;
    enum program_answer answer;
    struct program *program;
};

static void on_answer(struct program_request *q, enum program_answer answer, struct program *p)
{
    struct asker *a = (struct asker *)q;
    a->answers++;
    a->answer = answer;
    a->program = p;
}

static int told;
static void on_answered(void *context)
{
    (void)context;
    told++;
}

struct world {
    uv_loop_t loop;
    struct programs *ps;
    struct buf files;
};

static void world_open(struct world *w, int dir_fd, uint64_t max)
{
    *w = (struct world){ 0 };
    CHECK_INT(uv_loop_init(&w->loop), 0);
    CHECK_INT(programs_new(&w->ps, &w->loop, on_answered, w, &e), 0);
    CHECK_INT(bundle_add(&w->files, "main.c", 0644, "code", 4, &e), 0);
    if (dir_fd >= 0)
        programs_set_dir(w->ps, dup(dir_fd), max);
}

static void turn(struct world *w)
{
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
}

static void world_done(struct world *w)
{
    programs_free(w->ps);
    turn(w);
    CHECK_INT(uv_loop_close(&w->loop), 0);
    buf_done(&w->files);
}

static enum program_answer ask(struct world *w, const char *key, struct asker *a)
{
    *a = (struct asker){ .request = { .on_answer = on_answer,
                                      .files = &w->files,
                                      .limits = compile_limits_default() } };
    return programs_request(w->ps, key, &a->request, &a->program);
}

static enum program_answer ask_with_more(struct world *w, const char *key, struct asker *a)
{
    *a = (struct asker){ .request = { .on_answer = on_answer,
                                      .files = &w->files,
                                      .limits = compile_limits_default() } };
    a->request.limits.v[LIMIT_WALL_MS]++;
    return programs_request(w->ps, key, &a->request, &a->program);
}

static struct program *make(struct world *w, struct asker *a, const char *text)
{
    struct stage_result result = { .usage = { 5, 6, 7, 8 } };
    scoped(buf) products = { 0 };
    struct program *p = NULL;
    CHECK_INT(buf_add(&result.output[RUN_STDERR], "warning", 7, &e), 0);
    CHECK_INT(bundle_add(&products, "program", OUTPUT_OK, text, strlen(text), &e), 0);
    CHECK_INT(programs_put(w->ps, &a->request, &result, &products, &p, &e), 0);
    return p;
}

/* Whether the bundle for the run has this text as "program". */
static bool holds(const struct program *p, const char *text)
{
    struct stat st;
    struct bundle_entry f;
    bool more = true, found = false;
    if (!p || p->bundle_fd < 0 || fstat(p->bundle_fd, &st) < 0)
        return false;
    struct buf b = { .len = (size_t)st.st_size,
                     .data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, p->bundle_fd,
                                  0) };
    for (size_t pos = 0; bundle_next(&b, &pos, &f, &more, &e) == 0 && more;)
        found = found || (f.head.name_len == 7 && f.head.size == strlen(text) &&
                          memcmp(f.bytes, text, f.head.size) == 0);
    (void)munmap(b.data, b.len);
    return found;
}

static void test_first_makes_it_and_the_next_have_it(void)
{
    scoped(world) w;
    struct asker a, b, c, again;
    world_open(&w, -1, 0);
    CHECK_INT(ask(&w, "k", &a), PROGRAM_COMPILE_IT);
    CHECK_INT(ask(&w, "k", &b), PROGRAM_PENDING);
    CHECK_INT(ask(&w, "k", &c), PROGRAM_PENDING);
    CHECK_INT(ask(&w, "other", &again), PROGRAM_COMPILE_IT);
    programs_cancel(w.ps, &again.request);
    struct program *p = make(&w, &a, "made");
    CHECK(holds(p, "made") && p->result.usage.wall_us == 5);
    CHECK(b.answers == 1 && b.answer == PROGRAM_READY && b.program == p);
    CHECK(c.answers == 1 && c.program == p);
    CHECK_INT(ask(&w, "k", &again), PROGRAM_READY);
    CHECK(again.program == p);
    CHECK_INT(p->refs, 5);
    for (int i = 0; i < 4; i++)
        program_unref(p);
    struct programs_counts n = programs_counts(w.ps);
    CHECK(n.compiled == 1 && n.shared == 2 && n.from_memory == 1);
}

static void test_who_waits_takes_over_when_the_first_leaves(void)
{
    scoped(world) w;
    struct asker a, b, c;
    world_open(&w, -1, 0);
    CHECK_INT(ask(&w, "k", &a), PROGRAM_COMPILE_IT);
    CHECK_INT(ask(&w, "k", &b), PROGRAM_PENDING);
    CHECK_INT(ask(&w, "k", &c), PROGRAM_PENDING);
    programs_cancel(w.ps, &b.request); /* a waiting request is cancelled without an answer */
    CHECK(b.answers == 0);
    programs_cancel(w.ps, &a.request);
    programs_cancel(w.ps, &a.request);
    CHECK(c.answers == 1 && c.answer == PROGRAM_COMPILE_IT && !c.program);
    program_unref(make(&w, &c, "made"));
    CHECK(a.answers == 0 && b.answers == 0 && c.answers == 1);
    CHECK_INT(ask(&w, "k", &a), PROGRAM_READY);
    program_unref(a.program);
}

static void test_failure_is_shared_by_those_with_the_same_limits_and_not_kept(void)
{
    scoped(world) w;
    struct asker a, same, more;
    struct stage_result result = { .verdict = VERDICT_TIMEOUT };
    world_open(&w, -1, 0);
    CHECK_INT(ask(&w, "k", &a), PROGRAM_COMPILE_IT);
    CHECK_INT(ask_with_more(&w, "k", &more), PROGRAM_COMPILE_IT);
    CHECK_INT(ask(&w, "k", &same), PROGRAM_PENDING);
    struct program *p = programs_fail(w.ps, &a.request, &result);
    CHECK(p && p->result.verdict == VERDICT_TIMEOUT && p->bundle_fd < 0);
    CHECK(same.answer == PROGRAM_FAILED && same.program == p);
    CHECK(more.answers == 0);
    program_unref(p);
    program_unref(p);
    programs_cancel(w.ps, &more.request);
    CHECK_INT(ask(&w, "k", &a), PROGRAM_COMPILE_IT);
    programs_cancel(w.ps, &a.request);
}

static void test_nobody_waits_for_a_compiler_with_other_limits(void)
{
    scoped(world) w;
    struct asker slow, slows, quick, quicks;
    world_open(&w, -1, 0);
    CHECK_INT(ask_with_more(&w, "k", &slow), PROGRAM_COMPILE_IT);
    CHECK_INT(ask_with_more(&w, "k", &slows), PROGRAM_PENDING);
    CHECK_INT(ask(&w, "k", &quick), PROGRAM_COMPILE_IT);
    CHECK_INT(ask(&w, "k", &quicks), PROGRAM_PENDING);
    struct program *p = make(&w, &quick, "made");
    CHECK(quicks.answer == PROGRAM_READY && quicks.program == p);
    CHECK(slows.answer == PROGRAM_READY && slows.program == p && slow.answers == 0);
    for (int i = 0; i < 3; i++)
        program_unref(p);
    program_unref(make(&w, &slow, "made")); /* takes the place of the other */
    CHECK_INT(ask(&w, "k", &quick), PROGRAM_READY);
    CHECK_INT(quick.program->refs, 2);
    program_unref(quick.program);
    CHECK_INT((int)programs_counts(w.ps).compiled, 2);
}

static void test_refusal_of_a_compiler_is_told_again_for_a_while(void)
{
    scoped(world) w;
    struct asker a;
    struct stage_result result = { .verdict = VERDICT_COMPILE_ERROR };
    world_open(&w, -1, 0);
    CHECK_INT(ask(&w, "k", &a), PROGRAM_COMPILE_IT);
    program_unref(programs_fail(w.ps, &a.request, &result));
    CHECK_INT(ask(&w, "k", &a), PROGRAM_FAILED);
    CHECK(a.program && a.program->result.verdict == VERDICT_COMPILE_ERROR);
    program_unref(a.program);
    CHECK_INT(ask(&w, "other", &a), PROGRAM_COMPILE_IT);
    programs_cancel(w.ps, &a.request);
    a.request.limits.v[LIMIT_MEMORY]++; /* a compiler with more memory may succeed */
    a.program = NULL;
    CHECK_INT(programs_request(w.ps, "k", &a.request, &a.program), PROGRAM_COMPILE_IT);
    programs_cancel(w.ps, &a.request);
}

static void test_memory_is_bounded_and_what_was_used_longest_ago_goes(void)
{
    scoped(world) w;
    struct asker a;
    char key[16];
    world_open(&w, -1, 0);
    for (int i = 0; i < 300; i++) { /* more than have a descriptor */
        (void)snprintf(key, sizeof key, "k%d", i);
        CHECK_INT(ask(&w, key, &a), PROGRAM_COMPILE_IT);
        program_unref(make(&w, &a, key));
        CHECK_INT(ask(&w, "k0", &a), PROGRAM_READY);
        program_unref(a.program);
    }
    CHECK_INT(ask(&w, "k1", &a), PROGRAM_COMPILE_IT);
    programs_cancel(w.ps, &a.request);
    CHECK_INT(ask(&w, "k299", &a), PROGRAM_READY);
    CHECK(holds(a.program, "k299"));
    program_unref(a.program);
}

/* ---- the disk ---- */

static void test_another_service_has_what_was_kept(void)
{
    scoped(place) p;
    struct asker a, b;
    if (!place_init(&p))
        return;
    {
        scoped(world) w;
        world_open(&w, p.fd, 1 << 20);
        CHECK_INT(ask(&w, "key", &a), PROGRAM_PENDING);
        turn(&w);
        CHECK(a.answers == 1 && a.answer == PROGRAM_COMPILE_IT);
        program_unref(make(&w, &a, "made"));
        CHECK(programs_busy(w.ps));
        turn(&w);
        CHECK(!programs_busy(w.ps));
    }
    scoped(world) w;
    world_open(&w, p.fd, 1 << 20);
    told = 0;
    CHECK_INT(ask(&w, "key", &a), PROGRAM_PENDING);
    CHECK_INT(ask(&w, "key", &b), PROGRAM_PENDING);
    turn(&w);
    CHECK(told > 0 && a.answer == PROGRAM_READY && b.answer == PROGRAM_READY);
    CHECK(holds(a.program, "made") && a.program == b.program);
    CHECK_STR(buf_str(&a.program->result.output[RUN_STDERR]), "warning");
    CHECK(a.program->result.usage.pids_peak == 8 && a.program->result.verdict == VERDICT_OK);
    program_unref(a.program);
    program_unref(b.program);
    CHECK_INT((int)programs_counts(w.ps).from_disk, 1);
}

static void test_who_leaves_while_the_disk_is_looked_at_hears_nothing(void)
{
    scoped(place) p;
    struct asker a, b;
    if (!place_init(&p))
        return;
    scoped(world) w;
    world_open(&w, p.fd, 1 << 20);
    CHECK_INT(ask(&w, "key", &a), PROGRAM_PENDING);
    CHECK_INT(ask(&w, "key", &b), PROGRAM_PENDING);
    programs_cancel(w.ps, &a.request);
    turn(&w);
    CHECK(a.answers == 0 && b.answers == 1 && b.answer == PROGRAM_COMPILE_IT);
    programs_cancel(w.ps, &b.request);
    CHECK_INT(ask(&w, "key", &a), PROGRAM_PENDING);
    programs_cancel(w.ps, &a.request);
    turn(&w);
    CHECK(a.answers == 0);
}

/* A name that could be a program's; the last 16 are there. */
static const char *key_number(int n)
{
    static char keys[16][PROGRAM_KEY_SIZE];
    static unsigned next;
    char *key = keys[next++ % 16];
    (void)snprintf(key, PROGRAM_KEY_SIZE, "%064x", (unsigned)n);
    return key;
}

static void keep(struct program_disk *d, const char *key, size_t bytes)
{
    scoped(program_file) f = { 0 };
    for (size_t i = 0; i < bytes; i++)
        CHECK_INT(buf_add(&f.products, "m", 1, &e), 0);
    CHECK_INT(program_disk_keep(d, key, &f, &e), 0);
}

static bool load(struct program_disk *d, const char *key)
{
    scoped(program_file) f = { 0 };
    return program_disk_load(d, key, &f);
}

static void test_every_damaged_byte_is_noticed(void)
{
    scoped(place) p;
    struct stat st;
    if (!place_init(&p))
        return;
    scoped(program_disk) d;
    program_disk_init(&d, dup(p.fd), 1 << 20);
    keep(&d, "k", 10);
    CHECK(load(&d, "k") && !load(&d, "absent"));
    CHECK_INT(fstatat(p.fd, "k", &st, 0), 0);
    for (off_t at = 0; at < st.st_size; at++) {
        (void)unlinkat(p.fd, "k", 0);
        keep(&d, "k", 10);
        autoclose int fd = openat(p.fd, "k", O_RDWR | O_CLOEXEC);
        char byte;
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte ^= 4;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        CHECK(!load(&d, "k"));
        CHECK(!place_has(&p, "k")); /* and is gone */
    }
    keep(&d, "k", 10);
    CHECK(renameat(p.fd, "k", p.fd, "another") == 0 && !load(&d, "another"));
}

static void test_disk_is_bounded_and_what_was_used_longest_ago_goes(void)
{
    scoped(place) p;
    enum { NEW = 100, HUGE_ONE };
    if (!place_init(&p))
        return;
    scoped(program_disk) d;
    program_disk_init(&d, dup(p.fd), 40960);
    for (int i = 0; i < 10; i++) {
        keep(&d, key_number(i), 100);
        const struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
        CHECK_INT(utimensat(p.fd, key_number(i), times, 0), 0);
    }
    CHECK(place_has(&p, key_number(0)) && load(&d, key_number(1))); /* which is used thereby */
    program_disk_touch(&d, key_number(2));
    keep(&d, key_number(NEW), 100);
    CHECK(!place_has(&p, key_number(0)) && !place_has(&p, key_number(3)));
    CHECK(place_has(&p, key_number(1)) && place_has(&p, key_number(2)) &&
          place_has(&p, key_number(9)) && place_has(&p, key_number(NEW)));
    keep(&d, key_number(HUGE_ONE), 45056); /* drives nobody out */
    CHECK(!place_has(&p, key_number(HUGE_ONE)) && place_has(&p, key_number(NEW)));
    d.max = 0;
    program_disk_trim(&d);
    CHECK(!place_has(&p, key_number(NEW)) && !place_has(&p, key_number(1)));
}

static void encoded(const char *key, const char *made, struct buf *ret)
{
    scoped(program_file)
        f = { .result = { .usage = { 1, 2, 3, 4 }, .truncated = { true, false } } };
    CHECK_INT(buf_add(&f.result.output[RUN_STDERR], "warning", 7, &e), 0);
    CHECK_INT(buf_add(&f.products, made, strlen(made), &e), 0);
    CHECK_INT(program_file_encode(&f, key, ret, &e), 0);
}

static void test_program_as_bytes_is_the_program(void)
{
    scoped(buf) b = { 0 };
    scoped(program_file) f = { 0 };
    encoded("k", "made", &b);
    CHECK(program_file_is_complete(&b, "k") && program_file_decode(&b, "k", &f));
    CHECK(f.result.usage.wall_us == 1 && f.result.usage.pids_peak == 4 &&
          f.result.verdict == VERDICT_OK);
    CHECK(f.result.truncated[RUN_STDOUT] && !f.result.truncated[RUN_STDERR]);
    CHECK_STR(buf_str(&f.result.output[RUN_STDERR]), "warning");
    CHECK_STR(buf_str(&f.products), "made");
}

static void test_half_a_program_is_none_and_is_not_kept(void)
{
    scoped(place) p;
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    scoped(program_disk) d;
    program_disk_init(&d, dup(p.fd), 1 << 20);
    encoded("k", "made", &b);
    CHECK(!program_file_is_complete(&b, "other"));
    for (size_t all = b.len; b.len > 0;) {
        b.len = b.len > all / 2 ? b.len - 1 : b.len / 2;
        scoped(program_file) f = { 0 };
        CHECK(!program_file_is_complete(&b, "k") && !program_file_decode(&b, "k", &f) &&
              !f.products.data);
        CHECK_INT(program_disk_put(&d, "k", &b, &e), -1);
    }
    CHECK(!place_has(&p, "k"));
}

static void test_what_is_there_already_is_replaced(void)
{
    scoped(place) p;
    scoped(buf) b = { 0 };
    if (!place_init(&p) || !place_file(&p, "k", "rubbish", 0600))
        return;
    scoped(program_disk) d;
    program_disk_init(&d, dup(p.fd), 1 << 20);
    encoded("k", "made", &b);
    CHECK_INT(program_disk_put(&d, "k", &b, &e), 0);
    CHECK(load(&d, "k"));
    CHECK(unlinkat(p.fd, "k", 0) == 0 && symlinkat("/etc/passwd", p.fd, "k") == 0);
    CHECK(program_disk_open(&d, "k") < 0);
    CHECK_INT(program_disk_put(&d, "k", &b, &e), 0);
    CHECK(load(&d, "k"));
}

static void test_file_that_others_may_write_is_none(void)
{
    static const mode_t modes[] = { 0620, 0602, 0666 };
    scoped(place) p;
    if (!place_init(&p))
        return;
    scoped(program_disk) d;
    program_disk_init(&d, dup(p.fd), 1 << 20);
    keep(&d, "k", 10);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        CHECK_INT(fchmodat(p.fd, "k", modes[i], 0), 0);
        CHECK(!load(&d, "k"));
    }
    CHECK(fchmodat(p.fd, "k", 0600, 0) == 0 && load(&d, "k"));
    if (geteuid() != 0)
        return;
    CHECK(fchownat(p.fd, "k", 12345, 0, 0) == 0 && !load(&d, "k"));
}

/* A lock says that somebody still writes it. */
static void test_what_a_killed_writer_left_is_removed_and_nothing_else(void)
{
    scoped(place) p;
    if (!place_init(&p) || !place_file(&p, ".new_left", "half", 0600) ||
        !place_file(&p, ".new_busy", "half", 0600) || !place_file(&p, "notes", "mine", 0600) ||
        !place_file(&p, ".hidden", "mine", 0600))
        return;
    autoclose int busy = openat(p.fd, ".new_busy", O_RDWR | O_CLOEXEC);
    CHECK(flock(busy, LOCK_EX | LOCK_NB) == 0);
    scoped(program_disk) d;
    program_disk_init(&d, dup(p.fd), 0);
    program_disk_trim(&d);
    CHECK(!place_has(&p, ".new_left") && place_has(&p, ".new_busy"));
    CHECK(place_has(&p, "notes") && place_has(&p, ".hidden")); /* also where nothing may be kept */
}

static const struct check_test tests[] = {
    TEST(test_key_changes_with_everything_a_compiler_could_see),
    TEST(test_key_does_not_change_with_what_it_may_take),
    TEST(test_key_changes_when_the_compiler_is_replaced),
    TEST(test_first_makes_it_and_the_next_have_it),
    TEST(test_who_waits_takes_over_when_the_first_leaves),
    TEST(test_nobody_waits_for_a_compiler_with_other_limits),
    TEST(test_failure_is_shared_by_those_with_the_same_limits_and_not_kept),
    TEST(test_refusal_of_a_compiler_is_told_again_for_a_while),
    TEST(test_memory_is_bounded_and_what_was_used_longest_ago_goes),
    TEST(test_another_service_has_what_was_kept),
    TEST(test_who_leaves_while_the_disk_is_looked_at_hears_nothing),
    TEST(test_every_damaged_byte_is_noticed),
    TEST(test_disk_is_bounded_and_what_was_used_longest_ago_goes),
    TEST(test_program_as_bytes_is_the_program),
    TEST(test_half_a_program_is_none_and_is_not_kept),
    TEST(test_what_is_there_already_is_replaced),
    TEST(test_file_that_others_may_write_is_none),
    TEST(test_what_a_killed_writer_left_is_removed_and_nothing_else),
};
CHECK_MAIN(tests)
