#include "console/console.h"

#include <string.h>

#include "check.h"

enum { ASSETS_MAX = 700 << 10 };

static void test_console_files_are_whole_and_within_the_budget(void)
{
    size_t sum = 0;
    for (const struct console_file *f = console_files; f->name; f++) {
        const unsigned char *bytes = console_bytes(f);
        CHECK(f->offset == sum && f->size > 0);
        CHECK(console_find(f->name) == f);
        CHECK(f->is_gzip ? bytes[0] == 0x1f && bytes[1] == 0x8b : bytes[0] == '<');
        CHECK(f->is_hashed == (strncmp(f->name, "a/", 2) == 0));
        CHECK(f->etag[0] == '"' && strlen(f->etag) == 18);
        sum += f->size;
    }
    CHECK(sum > 100 << 10 && sum <= ASSETS_MAX);
    CHECK(console_find("") && console_find("frame.html") && !console_find("index.html"));
}

static void test_console_policies_differ_for_the_frame_alone(void)
{
    const char *frame = console_policy(console_find("frame.html"));
    CHECK(strncmp(frame, "sandbox allow-scripts;", 22) == 0 && !strstr(frame, "same-origin"));
    for (const struct console_file *f = console_files; f->name; f++)
        if (strcmp(f->name, "frame.html") != 0)
            CHECK(!strstr(console_policy(f), "unsafe"));
}

static const struct check_test tests[] = {
    TEST(test_console_files_are_whole_and_within_the_budget),
    TEST(test_console_policies_differ_for_the_frame_alone),
};
CHECK_MAIN(tests)
