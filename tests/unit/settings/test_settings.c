#include "settings/settings.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static int set(struct settings *s, const char *pair, struct err *e)
{
    *e = (struct err){ 0 };
    return settings_set_pair(s, pair, e);
}

static bool same(const struct settings *a, const struct settings *b)
{
    scoped(buf) one = { 0 }, other = { 0 };
    struct err e;
    return settings_write(a, &one, &e) == 0 && settings_write(b, &other, &e) == 0 &&
           strcmp(buf_str(&one), buf_str(&other)) == 0;
}

static char *read_document(const char *path)
{
    static char text[256 << 10];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        (void)fclose(f);
    text[n] = '\0';
    return text;
}

/* If this fails, put the printed rows into the table at the end of docs/service.md. */
static void test_the_documentation_has_every_setting(void)
{
    const char *document = read_document(DOCS_DIR "/service.md");
    struct settings s = settings_default();
    struct limits l = limits_default();
    struct err e = { 0 };
    struct setting_text text;
    char row[512];
    for (size_t i = 0; settings_describe(i, &text); i++) {
        (void)snprintf(row, sizeof row, "| `%s` | %s | %s%s |\n", text.key, text.default_text,
                       text.help, text.fixed ? "; at start only" : "");
        if (!CHECK(strstr(document, row) != NULL))
            printf("%s", row);
    }
    CHECK(memcmp(&s.limit_default, &l, sizeof l) == 0);
    CHECK_INT(settings_check(&s, &e), 0);
}

static void test_every_kind_of_value_is_taken(void)
{
    struct settings s = settings_default();
    struct err e;
    CHECK_INT(set(&s, "http.max_body=1m", &e), 0);
    CHECK_INT(set(&s, " runs.max = 5 ", &e), 0);
    CHECK_INT(set(&s, "history.max_age=7d", &e), 0);
    CHECK_INT(set(&s, "debug=true", &e), 0);
    CHECK_INT(set(&s, "runs.isolation=process", &e), 0);
    CHECK_INT(set(&s, "approvals.mode=plan", &e), 0);
    CHECK_INT(set(&s, "http.hosts=a.example,b=c", &e), 0);
    CHECK_INT(set(&s, "limits.memory=64m", &e), 0);
    CHECK_INT(set(&s, "limits.memory.max=128m", &e), 0);
    CHECK(s.http_max_body == 1 << 20 && s.runs_max == 5 && s.debug);
    CHECK(s.history_max_age == 7 * 86400000ULL && s.isolation == LEVEL_PROCESS);
    CHECK_STR(s.approval_mode, "plan");
    CHECK_STR(s.http_hosts, "a.example,b=c");
    CHECK(s.limit_default.v[LIMIT_MEMORY] == 64 << 20 && s.limit_max.v[LIMIT_MEMORY] == 128 << 20);
}

static void test_nonsense_is_refused_naming_value_and_what_is_accepted(void)
{
    static const struct {
        const char *pair, *value, *accepted;
    } bad[] = {
        { "http.max_body=5x", "'5x'", "a size such as" },
        { "http.max_body=0", "'0'", "from 1k to 1g" },
        { "http.max_body=-1", "'-1'", "a size such as" },
        { "http.max_body=", "''", "a size such as" },
        { "runs.max=1.5", "'1.5'", "a whole number" },
        { "runs.max=1025", "'1025'", "from 0 to 1024" },
        { "http.head_timeout=1ms", "'1ms'", "from 100ms to 10m" },
        { "approvals.timeout=never", "'never'", "a duration such as" },
        { "debug=yes", "'yes'", "true or false" },
        { "runs.isolation=strong", "'strong'", "jar, rootless, process or auto" },
        { "approvals.mode=plann", "'plann'", "acceptEdits, plan, bypassPermissions, auto" },
        { "limits.pids.max=0", "'0'", "from 1 to 4096" },
        { "limits.wall_ms=25h", "'25h'", "from 1ms to 24h" },
        { "http.hosts=a\x01", "'a\\x01'", "control character" },
        { "pools.max=513", "'513'", "from 0 to 512" },
        { "pools.min=x", "'x'", "a whole number" },
        { "pools.memory_floor=5%", "'5%'", "a size such as" },
        { "pools.zygote_forks=0", "'0'", "from 1 to" },
        { "pools.zygote_age=0", "'0'", "from 1s to" },
        { "runs.max", "'runs.max'", "key=value" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct settings s = settings_default(), before = s;
        struct err e;
        CHECK_INT(set(&s, bad[i].pair, &e), -1);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
        if (!CHECK(strstr(e.text, bad[i].value) && strstr(e.text, bad[i].accepted)))
            printf("    %s: %s\n", bad[i].pair, e.text);
        CHECK(same(&s, &before));
    }
}

static void test_text_that_is_too_long_is_refused(void)
{
    static char value[SETTING_TEXT_MAX + 1];
    struct settings s = settings_default();
    struct err e = { 0 };
    memset(value, 'x', SETTING_TEXT_MAX);
    CHECK_INT(settings_set(&s, "execute.workspace", value, &e), -1);
    CHECK(strstr(e.text, "at most 1023 bytes"));
    value[SETTING_TEXT_MAX - 1] = '\0';
    CHECK_INT(settings_set(&s, "execute.workspace", value, &e), 0);
}

static void test_unknown_key_names_a_near_one(void)
{
    static const struct {
        const char *key, *near;
    } rows[] = {
        { "run.max", "'runs.max'" },
        { "runs.mx", "'runs.max'" },
        { "max_body", "'http.max_body'" },
        { "limits.memory.maxx", "'limits.memory.max'" },
        { "limits.wallms", "'limits.wall_ms'" },
        { "debugg", "'debug'" },
        { "colour", "serve --help" },
        { "", "serve --help" },
        { "a.very.long.key.that.is.longer.than.any.setting.of.ours.could.ever.be.at.all",
          "serve --help" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct settings s = settings_default();
        struct err e = { 0 };
        CHECK_INT(settings_set(&s, rows[i].key, "1", &e), -1);
        if (!CHECK(strstr(e.text, rows[i].near) != NULL))
            printf("    %s: %s\n", rows[i].key, e.text);
    }
}

static void test_file_is_taken_whole_or_not_at_all(void)
{
    static const char good[] = "# ours\n\n  runs.max = 7\r\nhttp.hosts = a # b\n\tdebug=true";
    static const char bad[] = "runs.max = 9\n\nruns.queue = x\n";
    struct settings s = settings_default();
    struct err e = { 0 };
    CHECK_INT(settings_parse(&s, "conf", good, sizeof good - 1, &e), 0);
    CHECK(s.runs_max == 7 && s.debug);
    CHECK_STR(s.http_hosts, "a # b");
    CHECK_INT(settings_parse(&s, "conf", bad, sizeof bad - 1, &e), -1);
    CHECK(strstr(e.text, "conf line 3") && strstr(e.text, "'x'"));
    CHECK_INT(s.runs_max, 7);
    CHECK_INT(settings_parse(&s, "conf", "runs.max\0=1", 11, &e), -1);
    CHECK(strstr(e.text, "conf line 1") != NULL);
    CHECK_INT(settings_parse(&s, "conf", "", 0, &e), 0);
}

static void test_what_was_written_reads_as_the_same(void)
{
    static const char *const pairs[] = {
        "http.max_body=1025",
        "runs.isolation=rootless",
        "debug=true",
        "approvals.mode=auto",
        "http.hosts=*",
        "execute.workspace=/a b/c#=d",
        "limits.wall_ms.max=1501ms",
        "history.max_age=3d",
    };
    struct settings s = settings_default(), back = settings_default();
    struct err e;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        CHECK_INT(set(&s, pairs[i], &e), 0);
    scoped(buf) b = { 0 };
    CHECK_INT(settings_write(&s, &b, &e), 0);
    CHECK_INT(settings_parse(&back, "text", b.data, b.len, &e), 0);
    CHECK(same(&s, &back));
    CHECK(back.http_max_body == 1025 && back.isolation == LEVEL_ROOTLESS && back.debug);
    CHECK_STR(back.workspace, "/a b/c#=d");
}

static void test_default_above_its_maximum_is_refused(void)
{
    struct settings s = settings_default();
    struct err e;
    CHECK_INT(set(&s, "limits.pids.max=10", &e), 0);
    CHECK_INT(settings_check(&s, &e), -1);
    CHECK(strstr(e.text, "limits.pids '64'") && strstr(e.text, "limits.pids.max '10'"));
    CHECK_INT(set(&s, "limits.pids=10", &e), 0);
    CHECK_INT(settings_check(&s, &e), 0);
}

static void test_fixed_settings_stay_as_they_are_while_running(void)
{
    struct settings running = settings_default(), wanted = running;
    struct err e;
    char kept[200];
    CHECK_INT(set(&wanted, "runs.isolation=process", &e), 0);
    CHECK_INT(set(&wanted, "execute.workspace=/x", &e), 0);
    CHECK_INT(set(&wanted, "runs.max=3", &e), 0);
    settings_keep_fixed(&wanted, &running, kept, sizeof kept);
    CHECK_STR(kept, "runs.isolation,execute.workspace");
    CHECK(wanted.isolation == LEVEL_AUTO && wanted.workspace[0] == '\0' && wanted.runs_max == 3);
    settings_keep_fixed(&wanted, &running, kept, sizeof kept);
    CHECK_STR(kept, "");
}

static void test_zero_stands_for_what_the_machine_has(void)
{
    struct settings s = settings_default();
    uint64_t max = settings_runs_max(&s);
    CHECK(max >= 8 && max <= 1024 && max % 8 == 0);
    CHECK(settings_runs_burst(&s) == 128 && settings_runs_queue(&s) == max / 4 &&
          settings_runs_max_per_key(&s) == max);
    s.runs_max = 5;
    CHECK(settings_runs_max(&s) == 5 && settings_runs_queue(&s) == 2);
    s.runs_queue = 1;
    s.runs_max_per_key = 2;
    CHECK(settings_runs_queue(&s) == 1 && settings_runs_max_per_key(&s) == 2);
    CHECK_INT(settings_runs_burst(&s), 0);
}

static void test_help_names_every_setting_with_its_default(void)
{
    scoped(buf) all = { 0 };
    struct err e;
    struct settings s = settings_default();
    struct setting_text text;
    size_t n = 0;
    CHECK_INT(settings_write(&s, &all, &e), 0);
    for (const char *at = all.data; *at; at = strchr(at, '\n') + 1, n++) {
        char line[160];
        if (!CHECK(settings_describe(n, &text)))
            return;
        (void)snprintf(line, sizeof line, "%s = %s\n", text.key, text.default_text);
        CHECK(strncmp(at, line, strlen(line)) == 0 && text.help[0] && text.metavar[0]);
    }
    CHECK(!settings_describe(n, &text));
}

static const struct check_test tests[] = {
    TEST(test_the_documentation_has_every_setting),
    TEST(test_every_kind_of_value_is_taken),
    TEST(test_nonsense_is_refused_naming_value_and_what_is_accepted),
    TEST(test_text_that_is_too_long_is_refused),
    TEST(test_unknown_key_names_a_near_one),
    TEST(test_file_is_taken_whole_or_not_at_all),
    TEST(test_what_was_written_reads_as_the_same),
    TEST(test_default_above_its_maximum_is_refused),
    TEST(test_fixed_settings_stay_as_they_are_while_running),
    TEST(test_zero_stands_for_what_the_machine_has),
    TEST(test_help_names_every_setting_with_its_default),
};
CHECK_MAIN(tests)
