#include "runtime/version.h"

#include "base/clock.h"
#include "check.h"
#include "place.h"

/* A language whose interpreter says this. */
static const char *version_said(const char *text, char *out, size_t size)
{
    const char *const command[] = { "/bin/echo", text, NULL };
    const struct language l = { .name = "test", .version = command };
    struct version_probe p;
    version_probe_start(&p, &l);
    const char *version = version_probe_read(p.fd, out, size);
    version_probe_done(&p);
    return version;
}

static void test_number_is_cut_out_of_whatever_is_said(void)
{
    char out[64];
    CHECK_STR(version_said("Python 3.11.2", out, sizeof out), "3.11.2");
    CHECK_STR(version_said("v18.20.4", out, sizeof out), "18.20.4");
    CHECK_STR(version_said("GNU bash, version 5.2.15(1)-release", out, sizeof out), "5.2.15");
    CHECK_STR(version_said("7", out, sizeof out), "7");
    CHECK_STR(version_said("Python 3.11.2", out, 4), "3.1");
}

static void test_no_number_is_no_version(void)
{
    char out[64];
    CHECK(version_said("", out, sizeof out) == NULL);
    CHECK(version_said("no digits here", out, sizeof out) == NULL);
    CHECK(version_probe_read(-1, out, sizeof out) == NULL);
}

static void test_endless_talk_is_not_read_to_its_end(void)
{
    static const char *const command[] = { "/usr/bin/yes", "1.2.3", NULL };
    const struct language l = { .name = "test", .version = command };
    struct version_probe p;
    char out[64];
    version_probe_start(&p, &l);
    CHECK_STR(version_probe_read(p.fd, out, sizeof out), "1.2.3");
    version_probe_done(&p); /* closing the pipe ends it */
}

static void test_program_that_said_all_and_does_not_end_is_not_waited_for(void)
{
    static const char *const command[] = { "/bin/sh", "-c", "echo 1.5; exec >&-; exec sleep 60",
                                           NULL };
    const struct language l = { .name = "test", .version = command };
    struct version_probe p;
    char out[64];
    uint64_t before = clock_ms();
    version_probe_start(&p, &l);
    CHECK_STR(version_probe_read(p.fd, out, sizeof out), "1.5");
    version_probe_done(&p);
    CHECK(clock_ms() - before < 30000);
}

static void test_language_that_is_not_installed_has_no_version(void)
{
    static const char *const command[] = { "/nowhere/at/all", "--version", NULL };
    const struct language l = { .name = "test", .version = command };
    struct version_probe p;
    char out[64];
    int before = open_fds();
    version_probe_start(&p, &l);
    CHECK(version_probe_read(p.fd, out, sizeof out) == NULL);
    version_probe_done(&p);
    version_probe_done(&p);
    CHECK_INT(open_fds(), before);
}

static const struct check_test tests[] = {
    TEST(test_number_is_cut_out_of_whatever_is_said),
    TEST(test_no_number_is_no_version),
    TEST(test_endless_talk_is_not_read_to_its_end),
    TEST(test_program_that_said_all_and_does_not_end_is_not_waited_for),
    TEST(test_language_that_is_not_installed_has_no_version),
};
CHECK_MAIN(tests)
