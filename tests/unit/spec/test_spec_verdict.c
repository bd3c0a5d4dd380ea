#include "spec/verdict.h"

#include <signal.h>

#include "base/array.h"
#include "check.h"

#define WALL    LIMIT_BIT(LIMIT_WALL_MS)
#define CPU     LIMIT_BIT(LIMIT_CPU_MS)
#define MEMORY  LIMIT_BIT(LIMIT_MEMORY)
#define PIDS    LIMIT_BIT(LIMIT_PIDS)
#define OUTPUT  LIMIT_BIT(LIMIT_OUTPUT)
#define DISK    LIMIT_BIT(LIMIT_DISK)
#define FILES   LIMIT_BIT(LIMIT_FILES)
#define ALL_SET ((1U << LIMIT_COUNT) - 1)

struct row {
    struct evidence evidence; /* reason, exit code, signal, hits */
    enum verdict verdict;
    int exit_code;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum verdict v = verdict_decide(&rows[i].evidence);
        CHECK_STR(verdict_word(v), verdict_word(rows[i].verdict));
        if (!CHECK_INT(verdict_exit_code(v, &rows[i].evidence), rows[i].exit_code))
            printf("    row %zu\n", i);
    }
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void test_program_that_ends_by_itself_keeps_its_status(void)
{
    static const struct row rows[] = {
        { { END_EXIT, 0, 0, 0, HOARD_NONE }, VERDICT_OK, 0 },
        { { END_EXIT, 1, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 1 },
        { { END_EXIT, 42, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 42 },
        { { END_EXIT, 255, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 255 },
        { { END_EXIT, 0, SIGSEGV, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 139 },
        { { END_EXIT, 0, SIGABRT, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 134 },
        { { END_EXIT, 0, SIGTERM, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 143 },
        { { END_EXIT, 0, SIGSYS, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 128 + SIGSYS },
    };
    CHECK_ROWS(rows);
}

/* The numbers that stand for our own verdicts, said by the program: still its own words. */
static void test_exit_status_cannot_forge_a_verdict(void)
{
    static const struct row rows[] = {
        { { END_EXIT, 124, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 124 },
        { { END_EXIT, 125, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 125 },
        { { END_EXIT, 130, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 130 },
        { { END_EXIT, 137, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 137 },
        { { END_EXIT, 153, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 153 },
        { { END_EXIT, 64, 0, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 64 },
        { { END_EXIT, 0, SIGKILL, 0, HOARD_NONE },
          VERDICT_RUNTIME_ERROR,
          137 }, /* it killed itself */
        { { END_EXIT, 0, SIGXCPU, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 128 + SIGXCPU },
        { { END_EXIT, 0, SIGXFSZ, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 128 + SIGXFSZ },
        { { END_EXIT, 0, SIGINT, 0, HOARD_NONE }, VERDICT_RUNTIME_ERROR, 130 },
    };
    CHECK_ROWS(rows);
}

static void test_what_ended_a_run_from_outside_is_its_verdict(void)
{
    static const struct row rows[] = {
        { { END_WALL, 0, SIGKILL, WALL, HOARD_NONE }, VERDICT_TIMEOUT, 124 },
        { { END_CPU, 0, SIGKILL, CPU, HOARD_NONE }, VERDICT_CPU_TIMEOUT, 124 },
        { { END_MEMORY, 0, SIGKILL, MEMORY, HOARD_NONE }, VERDICT_MEMORY_LIMIT, 137 },
        { { END_OUTPUT, 0, SIGKILL, OUTPUT, HOARD_NONE }, VERDICT_OUTPUT_LIMIT, 153 },
        { { END_CANCEL, 0, SIGKILL, 0, HOARD_NONE }, VERDICT_CANCELLED, 130 },
        { { END_FAILURE, 0, 0, 0, HOARD_NONE }, VERDICT_INTERNAL_ERROR, 125 },
    };
    CHECK_ROWS(rows);
    CHECK_INT(ARRAY_LEN(rows), END_REASON_COUNT_ - 1);
}

/* A program told to die that still manages to exit 0, or to touch other limits, changes nothing. */
static void test_reason_wins_over_everything_the_program_did(void)
{
    static const enum verdict expected[] = {
        [END_WALL] = VERDICT_TIMEOUT,        [END_CPU] = VERDICT_CPU_TIMEOUT,
        [END_MEMORY] = VERDICT_MEMORY_LIMIT, [END_OUTPUT] = VERDICT_OUTPUT_LIMIT,
        [END_CANCEL] = VERDICT_CANCELLED,    [END_FAILURE] = VERDICT_INTERNAL_ERROR,
    };
    static const int codes[] = { 0, 1, 124, 137, 255 }, signals[] = { 0, SIGKILL, SIGSEGV };
    unsigned wrong = 0;
    for (int reason = END_EXIT + 1; reason < END_REASON_COUNT_; reason++)
        for (limit_set hits = 0; hits <= ALL_SET; hits++)
            for (int i = 0; i < 15; i++) {
                struct evidence ev = { (enum end_reason)reason, codes[i % 5], signals[i / 5], hits,
                                       HOARD_NONE };
                wrong += verdict_decide(&ev) != expected[reason];
            }
    CHECK_INT(wrong, 0);
}

static void test_limit_that_was_hit_explains_a_failure(void)
{
    static const struct row rows[] = {
        { { END_EXIT, 1, 0, MEMORY, HOARD_NONE }, VERDICT_MEMORY_LIMIT, 137 },
        { { END_EXIT, 0, SIGKILL, MEMORY, HOARD_NONE }, VERDICT_MEMORY_LIMIT, 137 },
        { { END_EXIT, 0, SIGKILL, CPU, HOARD_NONE }, VERDICT_CPU_TIMEOUT, 124 },
        { { END_EXIT, 0, SIGXCPU, CPU, HOARD_NONE }, VERDICT_CPU_TIMEOUT, 124 },
        { { END_EXIT, 1, 0, PIDS, HOARD_NONE }, VERDICT_PROCESS_LIMIT, 1 },
        { { END_EXIT, 254, 0, PIDS, HOARD_NONE }, VERDICT_PROCESS_LIMIT, 254 },
        { { END_EXIT, 1, 0, DISK, HOARD_NONE }, VERDICT_DISK_LIMIT, 1 },
        { { END_EXIT, 3, 0, FILES, HOARD_NONE }, VERDICT_DISK_LIMIT, 3 },
        { { END_EXIT, 1, 0, DISK | FILES, HOARD_NONE }, VERDICT_DISK_LIMIT, 1 },
        { { END_EXIT, 0, SIGBUS, DISK, HOARD_NONE }, VERDICT_DISK_LIMIT, 128 + SIGBUS },
        /* several: the most telling */
        { { END_EXIT, 1, 0, MEMORY | CPU | PIDS | DISK, HOARD_NONE }, VERDICT_MEMORY_LIMIT, 137 },
        { { END_EXIT, 1, 0, CPU | PIDS | DISK, HOARD_NONE }, VERDICT_CPU_TIMEOUT, 124 },
        { { END_EXIT, 1, 0, PIDS | DISK | FILES, HOARD_NONE }, VERDICT_PROCESS_LIMIT, 1 },
        /* these end no program by themselves */
        { { END_EXIT, 1, 0, LIMIT_BIT(LIMIT_CPU_PERCENT), HOARD_NONE }, VERDICT_RUNTIME_ERROR, 1 },
        { { END_EXIT, 1, 0, LIMIT_BIT(LIMIT_OPEN_FILES), HOARD_NONE }, VERDICT_RUNTIME_ERROR, 1 },
    };
    CHECK_ROWS(rows);
}

static void test_program_that_coped_with_a_limit_is_ok(void)
{
    for (limit_set hits = 0; hits <= ALL_SET; hits++) {
        struct evidence ev = { END_EXIT, 0, 0, hits, HOARD_NONE };
        bool coped = !(hits & (MEMORY | OUTPUT));
        if (!CHECK((verdict_decide(&ev) == VERDICT_OK) == coped))
            break;
    }
}

/* Nobody can tell cut output from silence, and a run that lost a process to the memory limit may
 * have lost a result. These two are never a success, also when the program was faster than the
 * kill. */
static void test_memory_and_output_limits_are_never_ok(void)
{
    static const struct row rows[] = {
        { { END_EXIT, 0, 0, OUTPUT, HOARD_NONE }, VERDICT_OUTPUT_LIMIT, 153 },
        { { END_EXIT, 0, SIGPIPE, OUTPUT, HOARD_NONE }, VERDICT_OUTPUT_LIMIT, 153 },
        { { END_EXIT, 1, 0, OUTPUT | CPU | PIDS | DISK, HOARD_NONE }, VERDICT_OUTPUT_LIMIT, 153 },
        { { END_EXIT, 0, 0, MEMORY, HOARD_NONE }, VERDICT_MEMORY_LIMIT, 137 },
        { { END_EXIT, 0, 0, OUTPUT | MEMORY, HOARD_NONE }, VERDICT_MEMORY_LIMIT, 137 },
    };
    CHECK_ROWS(rows);
}

static void test_reason_nobody_knows_is_our_own_error(void)
{
    static const struct row rows[] = {
        { { END_REASON_COUNT_, 0, 0, 0, HOARD_NONE }, VERDICT_INTERNAL_ERROR, 125 },
        { { (enum end_reason)1000000, 0, 0, 0, HOARD_NONE }, VERDICT_INTERNAL_ERROR, 125 },
        { { (enum end_reason)(-1), 0, 0, 0, HOARD_NONE }, VERDICT_INTERNAL_ERROR, 125 },
    };
    CHECK_ROWS(rows);
    CHECK_STR(verdict_word((enum verdict)VERDICT_COUNT_), "internal_error");
    CHECK_STR(verdict_word((enum verdict)(-1)), "internal_error");
}

/* Written out again: clients and scripts rely on the words. */
static void test_words_are_what_clients_rely_on(void)
{
    static const char *const words[] = {
        "ok",          "runtime_error", "compile_error", "timeout",
        "cpu_timeout", "memory_limit",  "output_limit",  "process_limit",
        "disk_limit",  "cancelled",     "rejected",      "internal_error",
    };
    CHECK_INT(ARRAY_LEN(words), VERDICT_COUNT_);
    for (int i = 0; i < VERDICT_COUNT_; i++) {
        enum verdict back = VERDICT_COUNT_;
        CHECK_STR(verdict_word((enum verdict)i), words[i]);
        CHECK_INT(verdict_parse(words[i], &back), 0);
        CHECK_INT(back, i);
        CHECK(strstr(verdict_list, words[i]) != NULL);
    }
    struct evidence none = { 0 };
    CHECK_INT(verdict_exit_code(VERDICT_REJECTED, &none), 125);
}

static const struct check_test tests[] = {
    TEST(test_program_that_ends_by_itself_keeps_its_status),
    TEST(test_exit_status_cannot_forge_a_verdict),
    TEST(test_what_ended_a_run_from_outside_is_its_verdict),
    TEST(test_reason_wins_over_everything_the_program_did),
    TEST(test_limit_that_was_hit_explains_a_failure),
    TEST(test_program_that_coped_with_a_limit_is_ok),
    TEST(test_memory_and_output_limits_are_never_ok),
    TEST(test_reason_nobody_knows_is_our_own_error),
    TEST(test_words_are_what_clients_rely_on),
};
CHECK_MAIN(tests)
