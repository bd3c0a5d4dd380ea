#include "cli/args.h"

#include <string.h>

#include "base/array.h"
#include "check.h"
#include "cli/cli.h"

struct options {
    bool loud;
    const char *text;
    unsigned number;
};

static int set_number(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, 9, &((struct options *)options)->number, e);
}

static const struct arg_row rows[] = {
    { "loud", .offset = offsetof(struct options, loud), .help = "?" },
    { "text", "TEXT", .letter = 't', .offset = offsetof(struct options, text), .help = "?" },
    { "number", "N", .letter = 'n', .apply = set_number, .help = "?" },
};
static const struct cli_command command = { .name = "try",
                                            .rows = rows,
                                            .n_rows = ARRAY_LEN(rows) };

/* Parses up to eight words. */
static int parse(struct options *o, char *const *words, int *ret_first, bool *ret_help,
                 struct err *e)
{
    char *argv[10] = { (char[]){ "try" } };
    int argc = 1;
    for (; *words; words++)
        argv[argc++] = *words;
    *o = (struct options){ 0 };
    return args_parse(&command, argc, argv, o, ret_first, ret_help, e);
}
#define ARGV(...) ((char *[]){ __VA_ARGS__, NULL })

static void test_a_row_stores_its_value(void)
{
    struct options o;
    struct err e = { 0 };
    int first;
    bool help;
    char loud[] = "--loud", text[] = "--text=x", t[] = "-t", y[] = "y", number[] = "-n7",
         file[] = "f";
    CHECK_INT(parse(&o, ARGV(loud, file, text, number), &first, &help, &e), 0);
    CHECK(o.loud && !help && first == 4);
    CHECK_STR(o.text, "x");
    CHECK_INT(o.number, 7);
    CHECK_INT(parse(&o, ARGV(t, y), &first, &help, &e), 0);
    CHECK(!o.loud && o.number == 0);
    CHECK_STR(o.text, "y");
}

static void test_help_is_an_option_of_every_command(void)
{
    struct options o;
    struct err e = { 0 };
    int first;
    bool help = false;
    char h[] = "-h", long_form[] = "--help";
    CHECK_INT(parse(&o, ARGV(h), &first, &help, &e), 0);
    CHECK(help);
    help = false;
    CHECK_INT(parse(&o, ARGV(long_form), &first, &help, &e), 0);
    CHECK(help);
}

static void test_wrong_options_name_the_right_one(void)
{
    struct options o;
    struct err e = { 0 };
    int first;
    bool help;
    char lound[] = "--lound", z[] = "-z", text[] = "--text", ten[] = "-n10";
    CHECK_INT(parse(&o, ARGV(lound), &first, &help, &e), -1);
    CHECK(e.code == ERR_USAGE && strstr(e.text, "did you mean --loud?"));
    CHECK_INT(parse(&o, ARGV(z), &first, &help, &e), -1);
    CHECK(e.code == ERR_USAGE && strstr(e.text, "'-z'") && strstr(e.text, "belljar try --help"));
    CHECK_INT(parse(&o, ARGV(text), &first, &help, &e), -1);
    CHECK(e.code == ERR_USAGE && strstr(e.text, "needs a value"));
    CHECK_INT(parse(&o, ARGV(ten), &first, &help, &e), -1);
    CHECK(e.code == ERR_USAGE && strstr(e.text, "--number '10'") && strstr(e.text, "1 to 9"));
}

static void check_row(const struct cli_command *c, const struct arg_row *r)
{
    CHECK(r->name && r->help && r->help[0]);
    CHECK(!r->shows_words || r->values.kind == VALUES_WORDS);
    CHECK(r->values.kind != VALUES_WORDS || (r->metavar && r->values.word_at(r->def, 0)));
    CHECK(r->apply || c->options_size > r->offset || strcmp(r->name, "help") == 0);
}

static void test_every_command_is_complete_and_names_each_option_once(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct cli_command *c = commands[i];
        struct arg_row all[ARGS_ROWS_MAX];
        size_t n = command_rows(c, all);
        CHECK(c->name && c->summary && c->usage[0] && c->description && (c->run || c->n_verbs > 0));
        CHECK_INT(n <= ARGS_ROWS_MAX, 1);
        for (size_t k = 0; k < n; k++) {
            check_row(c, &all[k]);
            for (size_t m = 0; m < k; m++)
                CHECK(strcmp(all[k].name, all[m].name) != 0 &&
                      (all[k].letter == 0 || all[k].letter != all[m].letter));
        }
        for (size_t k = 0; k < c->n_verbs; k++)
            CHECK(c->verbs[k].name && c->verbs[k].help && c->verbs[k].run);
    }
}

static const struct check_test tests[] = {
    TEST(test_a_row_stores_its_value),
    TEST(test_help_is_an_option_of_every_command),
    TEST(test_wrong_options_name_the_right_one),
    TEST(test_every_command_is_complete_and_names_each_option_once),
};
CHECK_MAIN(tests)
