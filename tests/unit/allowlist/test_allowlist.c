#include "allowlist/allowlist.h"

#include <elf.h>
#include <sys/mman.h>

#include "allowlist/companions.h"
#include "allowlist/elf.h"
#include "allowlist/libraries.h"
#include "base/array.h"
#include "base/clock.h"
#include "check.h"
#include "place.h"
#include "spec/listed.h"

static const char *const bash = "/bin/bash";

static bool has(char *const *list, const char *part)
{
    for (; list && *list; list++)
        if (strstr(*list, part))
            return true;
    return false;
}

static int resolve(char **names, struct allowlist *ret, struct err *e)
{
    *e = (struct err){ 0 };
    return allowlist_resolve(bash, names, ret, e);
}

static void test_command_comes_with_loader_and_libraries(void)
{
    char *names[] = { (char *)"ls", NULL };
    scoped(allowlist) c = { 0 };
    struct err e;
    if (!CHECK_INT(resolve(names, &c, &e), 0))
        return (void)printf("    %s\n", e.text);
    CHECK(has(c.executes, "/bash") && has(c.executes, "/ls") && has(c.executes, "/ld-linux"));
    CHECK(has(c.reads, "/libc.so") || has(c.reads, "/libc-"));
    CHECK(!has(c.executes, "/libc.so") && !has(c.executes, "/cat") && !has(c.reads, "/cat"));
    CHECK(!c.own_code);
    CHECK_INT(listed_check(c.executes, c.reads, &e), 0);
    for (char **path = c.executes; *path; path++) { /* A3 */
        char real[4096];
        CHECK_STR(realpath(*path, real), *path);
    }
}

static void test_empty_list_is_the_shell_alone(void)
{
    char *names[] = { NULL };
    scoped(allowlist) c = { 0 };
    struct err e;
    CHECK_INT(resolve(names, &c, &e), 0);
    CHECK(c.executes && c.executes[0] && c.executes[1] && !c.executes[2]); /* and its loader */
}

static void test_what_shells_do_themselves_is_no_file(void)
{
    char *names[] = { (char *)"cd", (char *)".", (char *)"export", (char *)"[[", NULL };
    scoped(allowlist) c = { 0 };
    struct err e;
    CHECK_INT(resolve(names, &c, &e), 0);
    CHECK(c.executes && c.executes[2] == NULL);
    CHECK(companion_is_builtin("readonly") && !companion_is_builtin("ls") &&
          !companion_is_builtin(""));
}

static void test_what_is_no_command_is_named(void)
{
    static const struct {
        const char *name, *word;
    } rows[] = {
        { "no-such-command", "'no-such-command'" },
        { "", "''" },
        { "ls -l", "'ls -l'" },
        { "/bin/ls", "'/bin/ls'" },
        { "..", "'..'" },
        { "-x", "'-x'" },
        { "a\nb", "'a\\x0ab'" },
        { "\xff", "\\xff" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *names[] = { (char *)"ls", (char *)rows[i].name, NULL };
        struct allowlist c = { 0 };
        struct err e = { 0 };
        CHECK_INT(allowlist_check(names, &e), -1);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
        if (!CHECK(strstr(e.text, rows[i].word) != NULL))
            printf("    %s\n", e.text);
        CHECK(resolve(names, &c, &e) == -1 && c.executes == NULL);
    }
}

static void test_long_name_is_refused(void)
{
    char name[400];
    struct err e;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_INT(allowlist_check((char *[]){ name, NULL }, &e), -1);
}

static void test_script_needs_its_interpreter(void)
{
    struct stat st;
    if (stat("/usr/bin/zcat", &st) < 0)
        return SKIP("no zcat here");
    struct err e;
    struct allowlist c = { 0 };
    CHECK_INT(resolve((char *[]){ (char *)"zcat", NULL }, &c, &e), -1);
    CHECK(strstr(e.text, "list 'sh' too") != NULL);
    CHECK_INT(resolve((char *[]){ (char *)"zcat", (char *)"sh", NULL }, &c, &e), 0);
    allowlist_done(&c);
}

static void test_list_is_for_shells_in_sealed_jars(void)
{
    const struct language *sh = language_find("bash"), *python = language_find("python");
    struct isolation iso = { .level = LEVEL_JAR, .layers = LAYER_BIT(LAYER_LANDLOCK) };
    struct err e;
    CHECK_INT(allowlist_possible(sh, &iso, false, &e), 0);
    CHECK_INT(allowlist_possible(sh, NULL, false, &e), 0);
    CHECK_INT(allowlist_possible(python, &iso, false, &e), -1);
    CHECK(strstr(e.text, "'python'") != NULL && strstr(e.text, "bash") != NULL);
    CHECK_INT(allowlist_possible(sh, &iso, true, &e), -1);
    iso.layers = 0;
    CHECK_INT(allowlist_possible(sh, &iso, false, &e), -1);
    CHECK(strstr(e.text, "Landlock") != NULL);
    iso = (struct isolation){ .level = LEVEL_PROCESS, .layers = LAYER_BIT(LAYER_LANDLOCK) };
    CHECK_INT(allowlist_possible(sh, &iso, false, &e), -1);
    CHECK(strstr(e.text, "'process'") != NULL);
}

/* ---- spec/listed.h ---- */

static void test_listed_paths_have_one_form(void)
{
    static const char *const good[] = { "/usr/bin/ls", "/lib64/x", "/usr/lib/.hidden", "/bin/[",
                                        "/usr/lib/..." };
    static const char *const bad[] = {
        "",          "usr/bin/ls",     "/",           "/usr",       "/usr/",
        "/usr//bin", "/usr/./bin",     "/usr/../etc", "/usr/bin/",  "/sandbox/x",
        "/tmp/x",    "/proc/self/exe", "/etc/passwd", "/usr/bin/.."
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!CHECK(listed_path(good[i])))
            printf("    %s\n", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (!CHECK(!listed_path(bad[i])))
            printf("    %s\n", bad[i]);
    char longest[LISTED_PATH_MAX + 1] = "/usr/";
    memset(longest + 5, 'a', LISTED_PATH_MAX - 5);
    CHECK(!listed_path(longest));
    longest[LISTED_PATH_MAX - 1] = '\0';
    CHECK(listed_path(longest));
}

static void test_lists_are_bounded(void)
{
    static char *many[LISTED_MAX + 2];
    struct err e;
    for (int i = 0; i < LISTED_MAX; i++)
        many[i] = (char *)"/usr/bin/ls";
    CHECK_INT(listed_check(many, NULL, &e), 0);
    CHECK_INT(listed_check(many, (char *[]){ (char *)"/usr/bin/ls", NULL }, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    static char name[LISTED_PATH_MAX] = "/usr/";
    memset(name + 5, 'a', sizeof name - 6);
    for (int i = 0; i < LISTED_MAX; i++)
        many[i] = i < LISTED_TEXT / LISTED_PATH_MAX ? name : NULL;
    CHECK_INT(listed_check(NULL, many, &e), 0);
    many[LISTED_TEXT / LISTED_PATH_MAX] = (char *)"/usr/x";
    CHECK_INT(listed_check(NULL, many, &e), -1);
}

/* ---- the reader of heads ---- */

static int read_bytes(const void *bytes, size_t n)
{
    struct elf f = { 0 };
    struct err e = { 0 };
    autoclose int fd = memfd_create("unit-test", MFD_CLOEXEC);
    CHECK(fd >= 0 && fd_write_all(fd, bytes, n) == 0);
    int rc = elf_read(fd, &f, &e);
    CHECK(rc == 0 || (f.needed == NULL && e.text[0]));
    elf_done(&f);
    return rc;
}

/* A library that needs one other, whole. */
struct small {
    Elf64_Ehdr head;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[5];
    char strings[64];
};

static struct small small_elf(void)
{
    struct small s = { 0 };
    memcpy(s.head.e_ident, ELFMAG, SELFMAG);
    s.head.e_ident[EI_CLASS] = ELFCLASS64;
    s.head.e_ident[EI_DATA] = ELFDATA2LSB;
    s.head.e_type = ET_DYN;
#if defined(__x86_64__)
    s.head.e_machine = EM_X86_64;
#else
    s.head.e_machine = EM_AARCH64;
#endif
    s.head.e_phoff = offsetof(struct small, segments);
    s.head.e_phentsize = sizeof s.segments[0];
    s.head.e_phnum = 3;
    s.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof s };
    s.segments[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
                                  .p_offset = offsetof(struct small, dynamic),
                                  .p_filesz = sizeof s.dynamic };
    s.segments[2] = (Elf64_Phdr){ .p_type = PT_INTERP,
                                  .p_offset = offsetof(struct small, strings) + 32,
                                  .p_filesz = 8 };
    s.dynamic[0] = (Elf64_Dyn){ DT_NEEDED, { 1 } };
    s.dynamic[1] = (Elf64_Dyn){ DT_RUNPATH, { 9 } };
    s.dynamic[2] = (Elf64_Dyn){ DT_STRTAB, { 0x1000 + offsetof(struct small, strings) } };
    s.dynamic[3] = (Elf64_Dyn){ DT_STRSZ, { sizeof s.strings } };
    memcpy(s.strings + 1, "libx.so", 8);
    memcpy(s.strings + 9, "$ORIGIN/y", 10);
    memcpy(s.strings + 32, "/ld.so", 7);
    return s;
}

static void test_head_is_read(void)
{
    struct small s = small_elf();
    scoped(elf) f = { 0 };
    struct err e = { 0 };
    autoclose int fd = memfd_create("unit-test", MFD_CLOEXEC);
    CHECK(fd >= 0 && fd_write_all(fd, &s, sizeof s) == 0);
    if (!CHECK_INT(elf_read(fd, &f, &e), 0))
        return (void)printf("    %s\n", e.text);
    CHECK_STR(f.interpreter, "/ld.so");
    CHECK_STR(f.runpath, "$ORIGIN/y");
    CHECK_STR(f.rpath, "");
    CHECK_STR(f.needed[0], "libx.so");
    CHECK(f.needed[1] == NULL);
}

#define WITH(change)                             \
    {                                            \
        struct small s = small_elf();            \
        change;                                  \
        CHECK_INT(read_bytes(&s, sizeof s), -1); \
    }

static void test_head_that_lies_is_refused(void)
{
    struct small whole = small_elf();
    CHECK_INT(read_bytes(&whole, sizeof whole), 0);
    for (size_t n = 0; n < sizeof whole; n++) /* cut off anywhere */
        CHECK_INT(read_bytes(&whole, n), -1);
    WITH(s.head.e_ident[EI_CLASS] = ELFCLASS32);
    WITH(s.head.e_ident[EI_DATA] = ELFDATA2MSB);
    WITH(s.head.e_machine = EM_S390);
    WITH(s.head.e_type = ET_CORE);
    WITH(s.head.e_phnum = UINT16_MAX);
    WITH(s.head.e_phentsize = 1);
    WITH(s.head.e_phoff = UINT64_MAX);
    WITH(s.head.e_phoff = INT64_MAX);
    WITH(s.segments[1].p_filesz = UINT64_MAX);
    WITH(s.segments[1].p_offset = UINT64_MAX - 3);
    WITH(s.segments[0].p_filesz = 0);
    WITH(s.segments[0].p_vaddr = UINT64_MAX);
    WITH(s.segments[0].p_offset = UINT64_MAX);
    WITH(s.segments[0].p_type = PT_DYNAMIC);
    WITH(s.segments[2].p_filesz = 0);
    WITH(s.segments[2].p_filesz = 3);
    WITH(s.dynamic[0].d_un.d_val = sizeof s.strings);
    WITH(s.dynamic[0].d_un.d_val = UINT64_MAX);
    WITH(s.dynamic[1].d_un.d_val = UINT64_MAX);
    WITH(s.dynamic[3].d_un.d_val = UINT64_MAX);
    WITH(s.dynamic[2].d_un.d_val = 0);
    WITH(memset(s.strings, 'a', sizeof s.strings));
}

static void test_too_many_needs_are_refused(void)
{
    struct {
        struct small s;
        Elf64_Dyn more[ELF_NEEDED_MAX + 3];
    } large = { .s = small_elf() };
    large.s.segments[1].p_offset = sizeof large.s;
    large.s.segments[1].p_filesz = sizeof large.more;
    large.s.segments[0].p_filesz = sizeof large;
    for (int i = 0; i < ELF_NEEDED_MAX + 3; i++)
        large.more[i] = (Elf64_Dyn){ DT_NEEDED, { 1 } };
    large.more[0] = large.s.dynamic[2];
    large.more[1] = large.s.dynamic[3];
    CHECK_INT(read_bytes(&large, sizeof large), -1);
    large.more[ELF_NEEDED_MAX + 2].d_tag = DT_NULL;
    CHECK_INT(read_bytes(&large, sizeof large), 0);
}

/* ---- where libraries are ---- */

struct found {
    char paths[16][300];
    size_t n;
};

static int note(void *context, const char *path, struct err *e)
{
    struct found *f = context;
    (void)e;
    if (f->n < 16)
        (void)snprintf(f->paths[f->n++], sizeof f->paths[0], "%s", path);
    return 0;
}

static void test_libraries_are_looked_for_as_the_loader_does(void)
{
    struct libraries none = { 0 };
    struct err e;
    struct found f = { 0 };
    CHECK_INT(libraries_find(&none, "x.so", "$ORIGIN/../lib:${ORIGIN}:/opt/y::rel:", "/usr/a", note,
                             &f, &e),
              0);
    CHECK_STR(f.paths[0], "/usr/a/../lib/x.so");
    CHECK_STR(f.paths[1], "/usr/a/x.so");
    CHECK_STR(f.paths[2], "/opt/y/x.so");
    CHECK(strncmp(f.paths[3], "/usr/lib/", 9) ==
          0); /* neither the current directory nor a relative one */
    f.n = 0;
    CHECK_INT(libraries_find(&none, "/usr/x/y.so", "", "/usr/a", note, &f, &e), 0);
    CHECK(f.n == 1);
    CHECK_STR(f.paths[0], "/usr/x/y.so");
    f.n = 0;
    CHECK_INT(libraries_find(&none, "$ORIGIN/y.so", "", "/usr/a", note, &f, &e), 0);
    CHECK_STR(f.paths[0], "/usr/a/y.so");
}

static void test_places_that_a_file_names_are_looked_at_for_each(void)
{
    struct err e;
    struct found f = { 0 };
    CHECK_INT(libraries_find_near("x.so", "", "/usr/a", note, &f, &e), 0);
    CHECK(f.n == 0);
    CHECK_INT(libraries_find_near("x.so", "$ORIGIN", "/usr/a", note, &f, &e), 0);
    CHECK(f.n == 1);
    CHECK_STR(f.paths[0], "/usr/a/x.so");
}

static void test_list_that_was_resolved_just_now_is_not_resolved_again(void)
{
    static char ls[] = "ls", nosuch[] = "nosuch-command", shell[] = "/bin/bash";
    char *const names[] = { ls, NULL }, *const bad[] = { nosuch, NULL };
    struct allowlist_memo m = { 0 };
    struct err e;
    CHECK_INT(allowlist_usable(&m, shell, names, &e), 0);
    uint64_t at = m.at_ms;
    CHECK(m.list.len == sizeof shell + sizeof ls && at > 0);
    CHECK_INT(allowlist_usable(&m, shell, names, &e), 0);
    CHECK(m.at_ms == at);
    CHECK_INT(allowlist_usable(&m, shell, bad, &e),
              -1); /* another one is looked at, and not kept */
    CHECK(m.at_ms == at && memcmp(m.list.data + sizeof shell, ls, sizeof ls) == 0);
    m.at_ms -= 2000;
    CHECK_INT(allowlist_usable(&m, shell, names, &e), 0);
    CHECK(m.at_ms >= at);
    m.since_ms = clock_ms() +
                 60000; /* a second that does not end, and is full: names are still checked */
    m.looks = 1000;
    m.at_ms = 0;
    CHECK_INT(allowlist_usable(&m, shell, names, &e), 0);
    CHECK_INT(allowlist_usable(&m, shell, bad, &e), -1);
    CHECK(m.at_ms == 0 && m.looks == 1002);
    allowlist_memo_done(&m);
}

static void test_cache_that_lies_is_not_believed(void)
{
    char bytes[48 + 24] = "glibc-ld.so.cache1.1";
    struct libraries l = { .cache = { .data = bytes, .len = sizeof bytes - 1 } };
    struct found f = { 0 };
    struct err e;
    uint32_t huge = UINT32_MAX, one = 1;
    memcpy(bytes + 20, &huge, 4);
    CHECK_INT(libraries_find(&l, "x.so", "", "", note, &f, &e), 0);
    size_t standard = f.n;
    memcpy(bytes + 20, &one, 4); /* one entry, of which a byte is missing */
    f.n = 0;
    CHECK_INT(libraries_find(&l, "x.so", "", "", note, &f, &e), 0);
    CHECK_INT(f.n, standard);
    char whole[48 + 24 + 32] = "glibc-ld.so.cache1.1";
    uint32_t name = 72, path = 80;
    memcpy(whole + 20, &one, 4);
    memcpy(whole + 52, &name, 4);
    memcpy(whole + 56, &path, 4);
    memcpy(whole + 72, "x.so", 5);
    memcpy(whole + 80, "/usr/q/x.so", 12);
    l.cache = (struct buf){ .data = whole, .len = sizeof whole - 1 };
    f.n = 0;
    CHECK_INT(libraries_find(&l, "x.so", "", "", note, &f, &e), 0);
    CHECK_STR(f.paths[0], "/usr/q/x.so");
    memcpy(whole + 56, &huge, 4);
    f.n = 0;
    CHECK_INT(libraries_find(&l, "x.so", "", "", note, &f, &e), 0);
    CHECK_INT(f.n, standard);
}

static const struct check_test tests[] = {
    TEST(test_command_comes_with_loader_and_libraries),
    TEST(test_empty_list_is_the_shell_alone),
    TEST(test_what_shells_do_themselves_is_no_file),
    TEST(test_what_is_no_command_is_named),
    TEST(test_long_name_is_refused),
    TEST(test_script_needs_its_interpreter),
    TEST(test_list_is_for_shells_in_sealed_jars),
    TEST(test_listed_paths_have_one_form),
    TEST(test_lists_are_bounded),
    TEST(test_head_is_read),
    TEST(test_head_that_lies_is_refused),
    TEST(test_too_many_needs_are_refused),
    TEST(test_libraries_are_looked_for_as_the_loader_does),
    TEST(test_places_that_a_file_names_are_looked_at_for_each),
    TEST(test_list_that_was_resolved_just_now_is_not_resolved_again),
    TEST(test_cache_that_lies_is_not_believed),
};
CHECK_MAIN(tests)
