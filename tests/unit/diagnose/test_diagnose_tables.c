/* The program that turns data files of src/diagnose into C tables: it refuses each mistake with the
 * place and the accepted values, and then writes nothing. */
#include <string.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"

struct work {
    const struct place *place;
    const char *name;
};

static void generate(void *work)
{
    const struct work *w = work;
    int said = openat(w->place->fd, "said", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char *argv[] = { (char *)TABLES_GEN, (char *)w->name, (char *)"made.h", NULL };
    if (said >= 0 && dup2(said, STDERR_FILENO) >= 0 && fchdir(w->place->fd) == 0)
        (void)execve(argv[0], argv, (char *[]){ NULL });
    _exit(127);
}

static void read_text(const struct place *p, const char *name, char *text, size_t size)
{
    autoclose int fd = openat(p->fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[n > 0 ? n : 0] = '\0';
}

/* Runs the program over a file of this name and text. */
static bool runs(const char *name, const char *text, char *said, size_t size, char *made,
                 size_t made_size)
{
    struct place p;
    int status = -1;
    said[0] = made[0] = '\0';
    if (!place_init(&p))
        return false;
    if (place_file(&p, name, text, 0644)) {
        status = in_child(generate, &(struct work){ &p, name });
        CHECK_INT(place_has(&p, "made.h"), status == 0);
        CHECK(status == 0 || status == 1);
        read_text(&p, "said", said, size);
        read_text(&p, "made.h", made, made_size);
    }
    place_done(&p);
    return status == 0;
}

static void check_refused(const char *name, const char *text, const char *reason)
{
    char said[4096], made[64];
    CHECK(!runs(name, text, said, sizeof said, made, sizeof made));
    if (!CHECK(strstr(said, reason) != NULL))
        printf("    %s: %s    expected: %s\n", text, said, reason);
}

static void check_made(const char *name, const char *text, const char *const *parts)
{
    char said[4096], made[8192];
    if (!CHECK(runs(name, text, said, sizeof said, made, sizeof made)))
        printf("    %s\n", said);
    for (; *parts; parts++)
        if (!CHECK(strstr(made, *parts) != NULL))
            printf("    %s    expected: %s\n", made, *parts);
}

static void test_rules_become_a_table(void)
{
    check_made("a.rules",
               "# A comment.\n"
               "let DOC https://example.org/\n"
               "\n"
               "table some shared\n"
               "\n"
               "match ^no \"(\\w+)\" in (\\d+)$\n"
               "is name\n"
               "number 3\n"
               "call advise\n"
               "names words\n"
               "say 0.85 There is no {1}:\n"
               "    look at ${HOME} and {2}.\n"
               "line \"  {1} = 1\"\n"
               "docs {DOC}{1}.html\n"
               "\n"
               "type any\n"
               "match \xE2\x80\x98x\n"
               "is io\n",
               (const char *const[]){
                   "\nconst struct rule some[] = {",
                   "#line 6 \"a.rules\"",
                   ".pattern = \"^no \\\"(\\\\w+)\\\" in (\\\\d+)$\", .category = CATEGORY_NAME, "
                   ".number = 3, .confidence = 0.8",
                   ".text = \"There is no {1}: look at ${HOME} and {2}.\", .replacement = \"  {1} "
                   "= 1\", .advise = advise, .names = words, .docs = "
                   "\"https://example.org/{1}.html\"",
                   "{ .type = \"\", .pattern = \"\\342\\200\\230x\", .category = CATEGORY_IO, },",
                   "{ .pattern = NULL },\n};\n",
                   NULL,
               });
}

static void test_words_become_lists_pairs_and_tables(void)
{
    check_made(
        "a.words",
        "list few\n"
        "one two\n"
        "\"else if\"\n"
        "\n"
        "pairs homes\n"
        "a  first of\n"
        "    them\n"
        "\"b \"  second\n"
        "\n"
        "table many: word swap? category\n"
        "x  -  type\n",
        (const char *const[]){
            "static const char *const few[] = {\n\"one\",\n\"two\",\n\"else if\",\nNULL,\n};",
            "static const struct word_pair homes[] = {\n{ \"a\", \"first of them\" },\n{ \"b "
            "\", \"second\" },\n{ NULL, NULL },\n};",
            "enum category category;\n} many[] = {\n{ \"x\", NULL, CATEGORY_TYPE },\n};",
            NULL,
        });
}

static void test_broken_rules_are_refused(void)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        { "match x\nis name\n", "a.rules:1: a rule outside of a table" },
        { "# nothing\n", "no table: write `table NAME`" },
        { "table t\n", "a.rules:1: the table 't' has no rules" },
        { "table 1t\n\nmatch x\nis io\n", "a.rules:1: '1t' is not a name for a table" },
        { "table t hidden\n\nmatch x\nis io\n", "a.rules:1: 'hidden' behind the name" },
        { "table t\n\nmach x\nis io\n", "a.rules:3: 'mach' is not a key of a rule: type, match" },
        { "table t\n\nmatch x\nmatch y\nis io\n", "a.rules:4: `match` stands twice" },
        { "table t\n\nmatch\nis io\n", "a.rules:3: `match` has no value" },
        { "table t\n\nis io\n", "a.rules:3: the rule fits no error" },
        { "table t\n\nmatch x\n", "a.rules:3: the rule has no effect" },
        { "table t\n\nmatch x\nis nmae\n", "'nmae' is not a category: runtime, syntax, name" },
        { "table t\n\nmatch x\nis io\nnumber 41\n", "'41' is not a number of the list" },
        { "table t\n\nmatch x\nis io\nnumber 3x\n", "'3x' is not a number of the list" },
        { "table t\n\nmatch x\nsay 1.5 Text.\n", "a confidence over 0 and up to 1" },
        { "table t\n\nmatch x\nsay 0 Text.\n", "a confidence over 0 and up to 1" },
        { "table t\n\nmatch x\nsay Text.\n", "a confidence over 0 and up to 1" },
        { "table t\n\nmatch (x)\nsay 0.5 No {2}.\n", "{2} stands for a group" },
        { "table t\n\nmatch (x\nis io\n", "a.rules:3: the pattern is broken at byte" },
        { "table t\n\nmatch (1)(2)(3)(4)(5)(6)(7)(8)(9)(10)\nis io\n", "10 groups, and 9" },
        { "table t\n\nmatch x\nsay 0.5 \xE2\x80\x98x\n", "a character outside of ASCII" },
        { "table t\n\nmatch x\nis io\ndocs http://x\n", "'http://x' is not an address: https" },
        { "table t\n\nmatch x\nis io\ndocs https://x/{1}\n", "{1} stands for a group" },
        { "table t\n\nmatch x\nis io\nline y\n", "write `say CONFIDENCE TEXT` too" },
        { "table t\n\nmatch x\ncall 2go\n", "'2go' is not a name of C" },
        { "table t\n\nmatch x\nis io\nnames words\n", "`names` is for a function" },
        { "table t\n\nmatch x\nis io\n\nmatch x\nis name\n", "a.rules:6: the rule of line 3" },
        { "table t\n\nmatch {NONE}\nis io\n", "{NONE} has no text: write `let NONE TEXT`" },
        { "let x y\ntable t\n", "a.rules:1: `let` takes a name of capital letters" },
        { "let X y\nlet X z\n", "a.rules:2: 'X' has a text already" },
        { " match x\n", "a.rules:1: an indented line continues the line above" },
        { "table t\n\nmatch\tx\nis io\n", "a.rules:3: the control character 0x09" },
        { "table t\n\nmatch \x1B[0m\nis io\n", "the control character 0x1b" },
        { "table t\n\nmatch x \nis io\n", "a.rules:3: the line ends with a space" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refused("a.rules", rows[i].text, rows[i].reason);
}

static void test_broken_words_are_refused(void)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        { "words few\none\n", "a.words:1: 'words' begins no table: `list NAME`, `pairs NAME`" },
        { "list few\n", "'few' is empty" },
        { "list few\none two\none\n", "a.words:3: 'one' stands in line 2 already" },
        { "list few\n\"one\n", "a.words:2: the cell \"one has no quote at its end" },
        { "pairs some\na b\n", "a.words:2: the row has 1 of 2 cells: two spaces" },
        { "pairs some\na  b  c\n", "a.words:2: 'c' is one cell too many" },
        { "pairs some\na  b\na  c\n", "a.words:3: 'a' stands in line 2 already" },
        { "table t\na  b\n", "a.words:1: a table names its columns" },
        { "table t: one\na\n", "a table has two columns or more" },
        { "table t: a b c d e\nx\n", "'e' is one column too many: 4 are accepted" },
        { "table t: a b-c\nx  y\n", "'b-c' is not a name for a column" },
        { "table t: a b\nx  y\nx  y\n", "a.words:3: 'x' stands in line 2 already" },
        { "table t: word category\nx  sort\n", "'sort' is not a category: runtime, syntax" },
        { "", "no table: write `list NAME`" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refused("a.words", rows[i].text, rows[i].reason);
}

static void test_texts_that_do_not_fit_are_refused(void)
{
    char text[2048], line[1100];
    memset(line, 'x', sizeof line);
    line[450] = '\0';
    (void)snprintf(text, sizeof text, "table t\n\nmatch x\nsay 0.5 %s\n", line);
    check_refused("a.rules", text, "the text has 450 bytes, and 399 are accepted");
    line[450] = 'x';
    line[1050] = '\0';
    (void)snprintf(text, sizeof text, "table t\n\nmatch %s\nis io\n", line);
    check_refused("a.rules", text, "a.rules:3: the line has 1056 bytes, and 1000 are accepted");
}

static void test_other_files_are_refused(void)
{
    char said[512], made[64];
    CHECK(!runs("a.txt", "list few\none\n", said, sizeof said, made, sizeof made));
    CHECK(strstr(said, "usage: tables_gen FILE.rules|FILE.words OUTPUT.h") != NULL);
}

static const struct check_test tests[] = {
    TEST(test_rules_become_a_table),
    TEST(test_words_become_lists_pairs_and_tables),
    TEST(test_broken_rules_are_refused),
    TEST(test_broken_words_are_refused),
    TEST(test_texts_that_do_not_fit_are_refused),
    TEST(test_other_files_are_refused),
};
CHECK_MAIN(tests)
