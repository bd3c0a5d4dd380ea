/* The parts of the SQL programs: splitting, CSV, rendering, places, the report. */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "guests/sql/csv.h"
#include "guests/sql/fixtures.h"
#include "guests/sql/render.h"
#include "guests/sql/split.h"
#include "guests/sql/sql_report.h"
#include "guests/sql/where.h"

#include "base/array.h"
#include "check.h"
#include "edge.h"
#include "place.h"

/* ---- splitting ---- */

/* The statements of a text, with | between them. */
static const char *statements(const char *text)
{
    static char out[1024];
    size_t n = strlen(text), at = 0, used = 0;
    const char *copy = edge_copy(text, n);
    struct statement st;
    out[0] = '\0';
    while (split_next(copy, n, at, &st)) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s", used ? "|" : "",
                                 (int)(st.end - st.start), copy + st.start);
        at = st.next;
    }
    return out;
}

static void test_statements_end_at_semicolons_that_are_not_hidden(void)
{
    static const struct {
        const char *text, *statements;
    } rows[] = {
        { "", "" },
        { " ;; ; -- only blanks; here\n /* a; /* b; */ c; */ ", "" },
        { "SELECT 1", "SELECT 1" },
        { "SELECT 1;SELECT 2;", "SELECT 1|SELECT 2" },
        { "  SELECT 1 ; -- x; y\n SELECT 2", "SELECT 1|SELECT 2" },
        { "SELECT ';', 'it''s;'; SELECT 2", "SELECT ';', 'it''s;'|SELECT 2" },
        { "SELECT '\\'; SELECT 2", "SELECT '\\'|SELECT 2" },
        { "SELECT E'\\';'; SELECT 2", "SELECT E'\\';'|SELECT 2" },
        { "SELECT e'a''\\\\'; SELECT 2", "SELECT e'a''\\\\'|SELECT 2" },
        { "SELECT te'\\'; SELECT 2", "SELECT te'\\'|SELECT 2" },
        { "SELECT \"a;\"\"b\"; SELECT 2", "SELECT \"a;\"\"b\"|SELECT 2" },
        { "SELECT $$a;$b$;$$; SELECT 2", "SELECT $$a;$b$;$$|SELECT 2" },
        { "SELECT $t$;$$;$T$;$t$; SELECT 2", "SELECT $t$;$$;$T$;$t$|SELECT 2" },
        { "SELECT a$b$c; SELECT 2", "SELECT a$b$c|SELECT 2" },
        { "SELECT $1;SELECT $", "SELECT $1|SELECT $" },
        { "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3",
          "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)|SELECT 3" },
        { "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT "
          "2; END; SELECT 3",
          "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT "
          "2; "
          "END|SELECT 3" },
        { "create or replace procedure p() begin atomic select 1; end; select 2",
          "create or replace procedure p() begin atomic select 1; end|select 2" },
        { "BEGIN; SELECT 1; END; SELECT 2", "BEGIN|SELECT 1|END|SELECT 2" },
        { "SELECT ')';SELECT 2", "SELECT ')'|SELECT 2" },
        { "SELECT 1);SELECT 2", "SELECT 1)|SELECT 2" },
        { "SELECT 'not closed; SELECT 2", "SELECT 'not closed; SELECT 2" },
        { "SELECT $x$ not closed; SELECT 2", "SELECT $x$ not closed; SELECT 2" },
        { "SELECT /* ; */ 1; /* not closed; SELECT 2", "SELECT /* ; */ 1" },
        { "\\d users\nSELECT 1;", "\\d users|SELECT 1" },
        { "SELECT 1\n;\n\\.", "SELECT 1|\\." },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_STR(statements(rows[i].text), rows[i].statements);
}

static void test_parameters_of_a_statement_are_counted(void)
{
    static const struct {
        const char *text;
        unsigned parameters;
    } rows[] = {
        { "SELECT 1", 0 },
        { "SELECT $1, $12", 12 },
        { "SELECT '$3', $2", 2 },
        { "SELECT $$ $4 $$", 0 },
        { "SELECT a$5", 0 },
        { "SELECT 1 -- $6\n", 0 },
        { "PREPARE p AS SELECT $1", 0 },
        { "CREATE FUNCTION f(int) RETURNS int RETURN $1", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct statement st = { 0 };
        CHECK(split_next(rows[i].text, strlen(rows[i].text), 0, &st));
        CHECK_INT(st.parameters, rows[i].parameters);
    }
}

/* ---- CSV ---- */

/* Rows with / between them, fields with |; NULL is ~. An error is its words. */
static const char *csv_shown(const char *text)
{
    static char out[1024];
    size_t used = 0;
    scoped(csv) c = { 0 };
    struct err e = { 0 };
    int got;
    csv_init(&c, edge_copy(text, strlen(text)), strlen(text));
    out[0] = '\0';
    while ((got = csv_next(&c, &e)) > 0)
        for (size_t i = 0; i < c.n_fields; i++)
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s",
                                     i      ? "|"
                                     : used ? "/"
                                            : "",
                                     csv_is_null(&c, i) ? "~" : csv_text(&c, i));
    if (got < 0)
        (void)snprintf(out, sizeof out, "line %zu: %s", c.row_line, e.text);
    return out;
}

static void test_csv_is_read_as_rfc_4180_has_it(void)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "", "" },
        { "\n\r\n\n", "" },
        { "a,b\r\n1,2\r\n", "a|b/1|2" },
        { "a,b\n1,2", "a|b/1|2" },
        { "\xEF\xBB\xBF"
          "a\n1",
          "a/1" },
        { "a,,\"\"\n", "a|~|" },
        { "\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\"\n", "x,y|say \"hi\"|two\nlines" },
        { "a\n\n\nb\n", "a/b" },
        { ",\n", "~|~" },
        { "a b, c \n", "a b| c " },
        { "mid\"quote\n", "mid\"quote" },
        { "lone\rreturn\n", "lone\rreturn" },
        { "a\n\"b\nc", "line 2: the quote that opens in line 2 is not closed" },
        { "\"a\"b\n",
          "line 1: expected a comma or the end of the line after the closing quote of field 1; "
          "a quote within a field is written twice" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_STR(csv_shown(rows[i].text), rows[i].shown);
}

static void test_lines_of_csv_are_counted_over_fields_of_several(void)
{
    scoped(csv) c = { 0 };
    struct err e = { 0 };
    static const char text[] = "a\n\"x\ny\"\n\nz\n";
    csv_init(&c, text, sizeof text - 1);
    static const size_t lines[] = { 1, 2, 5 };
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(csv_next(&c, &e), 1);
        CHECK_INT(c.row_line, lines[i]);
    }
    CHECK_INT(csv_next(&c, &e), 0);
}

static void test_values_are_numbers_only_if_a_number_gives_them_back(void)
{
    static const struct {
        const char *text;
        enum csv_type type;
    } rows[] = {
        { "0", CSV_INTEGER },
        { "-12", CSV_INTEGER },
        { "123456789", CSV_INTEGER },
        { "1234567890", CSV_BIGINT },
        { "999999999999999999", CSV_BIGINT },
        { "1234567890123456789", CSV_NUMBER },
        { "1.5", CSV_NUMBER },
        { "-0.5e-10", CSV_NUMBER },
        { "1e5", CSV_NUMBER },
        { "007", CSV_TEXT },
        { "+1", CSV_TEXT },
        { ".5", CSV_TEXT },
        { "1.", CSV_TEXT },
        { "1e", CSV_TEXT },
        { "1e9999", CSV_TEXT },
        { "-", CSV_TEXT },
        { "", CSV_TEXT },
        { "NaN", CSV_TEXT },
        { "1 ", CSV_TEXT },
        { "0x10", CSV_TEXT },
        { "1,000", CSV_TEXT },
        { "12345678901234567890123456789012345678901", CSV_TEXT },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(csv_type_of(rows[i].text, strlen(rows[i].text)), rows[i].type))
            printf("    %s\n", rows[i].text);
}

/* ---- rendering ---- */

#define T(text)                          \
    {                                    \
        CELL_TEXT, text, sizeof text - 1 \
    }
#define I(digits)                               \
    {                                           \
        CELL_INTEGER, digits, sizeof digits - 1 \
    }
#define NOTHING            \
    {                      \
        CELL_NULL, NULL, 0 \
    }

static char *rendered;

/* Two columns and three rows in each format. */
static const char *render_all(enum table_format format, const struct column *columns, size_t n,
                              const struct cell *cells, size_t rows)
{
    size_t size = 0;
    struct err e = { 0 };
    free(rendered);
    FILE *out = open_memstream(&rendered, &size);
    struct render *r = render_new(format, out);
    CHECK(out && r);
    CHECK_INT(render_begin(r, columns, n, &e), 0);
    for (size_t i = 0; i < rows; i++)
        CHECK_INT(render_row(r, cells + i * n, &e), 0);
    CHECK_INT(render_end(r, &e), 0);
    render_tag(r, "INSERT 3");
    render_free(r);
    (void)fclose(out);
    return rendered;
}

static const struct column two[] = { { "id", "integer" }, { "a|name", "text" } };
static const struct cell six[] = { I("1"),  T("Ann, \"A\""), I("20"),
                                   NOTHING, NOTHING,         T("<\xE6\x97\xA5\n|x\x1b") };

/* Characters that control a terminal: C0 and C1, as characters and as bytes, and marks that
 * reverse the direction of text. */
static void test_tables_move_no_terminal(void)
{
    const struct column one[] = { { "n\xc2\x9b", "text" } };
    const struct cell cell[] = { T("a\x1b[2J\t\xc2\x9b\x9b\xe2\x80\xae\xc3\xbc\x7fz\xc2") };
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    CHECK_STR(render_all(TABLE_HTML, one, 1, cell, 1),
              "<table>\n<thead><tr><th>n\\xc2\\x9b</th></tr></thead>\n<tbody>\n"
              "<tr><td>a\\x1b[2J\\t\\xc2\\x9b\xEF\xBF\xBD\\xe2\\x80\\xae\xc3\xbc\\x7fz\xEF\xBF\xBD"
              "</td></tr>\n</tbody>\n</table>\n");
}

static void test_every_format_shows_the_same_result_in_its_way(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    CHECK_STR(render_all(TABLE_ALIGNED, two, 2, six, 3), "   id | a|name\n"
                                                         "------+----------\n"
                                                         "    1 | Ann, \"A\"\n"
                                                         "   20 | NULL\n"
                                                         " NULL | <\xE6\x97\xA5     +\n"
                                                         "      | |x\\x1b\n"
                                                         "(3 rows)\n"
                                                         "INSERT 3\n");
    CHECK_STR(render_all(TABLE_CSV, two, 2, six, 3), "id,a|name\r\n"
                                                     "1,\"Ann, \"\"A\"\"\"\r\n"
                                                     "20,\r\n"
                                                     ",\"<\xE6\x97\xA5\n|x\x1b\"\r\n");
    CHECK_STR(render_all(TABLE_MARKDOWN, two, 2, six, 3),
              "|   id | a\\|name          |\n"
              "| ---: | ---------------- |\n"
              "|    1 | Ann, \"A\"         |\n"
              "|   20 | NULL             |\n"
              "| NULL | \\<\xE6\x97\xA5<br>\\|x\\\\x1b |\n");
    CHECK_STR(render_all(TABLE_JSON, two, 2, six, 3),
              "[{\"id\": 1, \"a|name\": \"Ann, \\\"A\\\"\"},\n"
              " {\"id\": 20, \"a|name\": null},\n"
              " {\"id\": null, \"a|name\": \"<\xE6\x97\xA5\\n|x\\u001b\"}]\n");
    CHECK_STR(render_all(TABLE_HTML, two, 2, six, 3),
              "<table>\n<thead><tr><th>id</th><th>a|name</th></tr></thead>\n<tbody>\n"
              "<tr><td class=\"number\">1</td><td>Ann, &quot;A&quot;</td></tr>\n"
              "<tr><td class=\"number\">20</td><td class=\"null\">NULL</td></tr>\n"
              "<tr><td class=\"null\">NULL</td><td>&lt;\xE6\x97\xA5<br>|x\\x1b</td></tr>\n"
              "</tbody>\n</table>\n");
}

static void test_results_without_rows_or_columns_are_shown(void)
{
    CHECK_STR(render_all(TABLE_ALIGNED, two, 2, NULL, 0),
              " id | a|name\n----+--------\n(0 rows)\nINSERT 3\n");
    CHECK_STR(render_all(TABLE_JSON, two, 2, NULL, 0), "[]\n");
    CHECK_STR(render_all(TABLE_JSON, NULL, 0, six, 2), "[{},\n {}]\n");
    CHECK_STR(render_all(TABLE_ALIGNED, NULL, 0, six, 2), "\n\n(2 rows)\nINSERT 3\n");
}

static void test_names_in_json_are_unique(void)
{
    static const struct column three[] = { { "a", "" }, { "a", "" }, { "a", "" } };
    static const struct cell cells[] = { I("1"), I("2"), I("3") };
    CHECK_STR(render_all(TABLE_JSON, three, 3, cells, 1), "[{\"a\": 1, \"a_2\": 2, \"a_3\": 3}]\n");
}

static void test_values_in_json_keep_every_digit(void)
{
    static const struct {
        struct cell cell;
        const char *json;
    } rows[] = {
        { I("9007199254740992"), "9007199254740992" },
        { I("9007199254740993"), "\"9007199254740993\"" },
        { I("-9223372036854775808"), "\"-9223372036854775808\"" },
        { { CELL_REAL, "1.5", 3 }, "1.5" },
        { { CELL_REAL, "1e+300", 6 }, "1e+300" },
        { { CELL_REAL, "Infinity", 8 }, "\"Infinity\"" },
        { { CELL_REAL, "NaN", 3 }, "\"NaN\"" },
        { { CELL_REAL, "01", 2 }, "\"01\"" },
        { { CELL_DECIMAL, "1.10", 4 }, "\"1.10\"" },
        { { CELL_BOOL, "t", 1 }, "true" },
        { { CELL_BOOL, "f", 1 }, "false" },
        { { CELL_BLOB, "\0\xff", 2 }, "{\"base64\":\"AP8=\"}" },
        { NOTHING, "null" },
        { T("a\0b"), "\"a\\u0000b\"" },
        { T("bad \xff"), "\"bad \xEF\xBF\xBD\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(buf) b = { 0 };
        struct err e;
        CHECK_INT(cell_add_json(&b, &rows[i].cell, &e), 0);
        CHECK_STR(buf_str(&b), rows[i].json);
    }
}

static void test_many_rows_are_aligned_by_the_first_and_held_no_longer(void)
{
    size_t size = 0;
    struct err e = { 0 };
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    struct render *r = render_new(TABLE_ALIGNED, out);
    static const struct column one[] = { { "n", "integer" } };
    static const struct cell small[] = { I("7") }, wide[] = { I("123456") };
    CHECK_INT(render_begin(r, one, 1, &e), 0);
    for (int i = 0; i < RENDER_WAITING_ROWS; i++)
        CHECK_INT(render_row(r, small, &e), 0);
    (void)fflush(out);
    CHECK(size > RENDER_WAITING_ROWS); /* they are out */
    CHECK_INT(render_row(r, wide, &e), 0);
    CHECK_INT(render_end(r, &e), 0);
    (void)fflush(out);
    CHECK(strstr(text, "\n 7\n 123456\n(1001 rows)\n") != NULL);
    render_free(r);
    (void)fclose(out);
    free(text);
}

/* ---- places ---- */

static const char *shown_at(const char *text, size_t offset)
{
    static char out[512];
    const struct script s = { "x.sql", text, strlen(text) };
    memset(out, 0, sizeof out);
    FILE *f = fmemopen(out, sizeof out - 1, "w");
    where_show(f, &s, offset, "> ", "  ");
    (void)fclose(f);
    return out;
}

static void test_places_are_lines_and_characters(void)
{
    const struct script s = { "x.sql",
                              "a\n\xC3\xBC"
                              "bc\nd",
                              8 };
    CHECK_INT(where_at(&s, 0).line, 1);
    CHECK_INT(where_at(&s, 5).line, 2);
    CHECK_INT(where_at(&s, 5).column, 3);
    CHECK_INT(where_at(&s, 99).line, 3);
    CHECK_INT(where_character(&s, 2, 1), 4);
    CHECK_INT(where_character(&s, 2, 99), 8);
    CHECK_STR(shown_at("SELECT\n\tx FROM\ny", 8), ">  x FROM\n   ^\n");
    CHECK_STR(shown_at("a\x1b\xc2\x9b\x9b\xe2\x80\xaeq x", 10), "> a   q x\n        ^\n");
    CHECK_STR(shown_at("", 0), "> \n  ^\n");
    CHECK_STR(shown_at("\xE6\x97\xA5x", 3), "> \xE6\x97\xA5x\n    ^\n");
    char wide[400];
    memset(wide, 'a', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const char *cut = shown_at(wide, 200);
    CHECK(strncmp(cut, "> ...aaa", 8) == 0 && strstr(cut, "aaa...\n") != NULL);
}

/* ---- the report ---- */

static const char *report_text(void)
{
    static char text[(1 << 20) + 4096];
    ssize_t n = fd_read_file(AT_FDCWD, SQL_REPORT_FILE, text, sizeof text);
    return n < 0 ? "" : text;
}

static void test_report_is_whole_after_every_result(void)
{
    struct place p;
    if (!place_init(&p) || !CHECK_INT(fchdir(p.fd), 0))
        return;
    struct sql_report r;
    sql_report_open(&r);
    CHECK_STR(report_text(), "{\"tables\":[]}\n");
    sql_report_row(&r, six, 2);
    sql_report_end(&r, two, 2, 3);
    CHECK_STR(
        report_text(),
        "{\"tables\":[{\"columns\":[{\"name\":\"id\",\"type\":\"integer\"},{\"name\":\"a|name\","
        "\"type\":\"text\"}],\"rows\":[[1,\"Ann, \\\"A\\\"\"]],\"row_count\":1,\"truncated\":false,"
        "\"line\":3}]}\n");
    for (int i = 0; i < SQL_REPORT_ROWS + 5; i++)
        sql_report_row(&r, six, 1);
    sql_report_end(&r, two, 1, 4);
    CHECK(strstr(report_text(), "\"row_count\":1005,\"truncated\":true,\"line\":4}]}\n") != NULL);
    sql_report_done(&r);
    place_done(&p);
}

static void test_report_has_a_bound_for_the_whole_run(void)
{
    struct place p;
    if (!place_init(&p) || !CHECK_INT(fchdir(p.fd), 0))
        return;
    static char large[300 << 10];
    memset(large, 'x', sizeof large);
    const struct cell cell = { CELL_TEXT, large, sizeof large };
    struct sql_report r;
    sql_report_open(&r);
    for (int t = 0; t < SQL_REPORT_TABLES + 50; t++) {
        sql_report_row(&r, &cell, 1);
        sql_report_end(&r, two, 1, 1);
    }
    struct stat st;
    CHECK_INT(stat(SQL_REPORT_FILE, &st), 0);
    CHECK(st.st_size < SQL_REPORT_BYTES + SQL_REPORT_TABLES * 200);
    CHECK_INT(r.tables, SQL_REPORT_TABLES);
    sql_report_done(&r);
    place_done(&p);
}

/* ---- fixtures ---- */

static char seen[1024];

static int see_script(void *context, const struct script *s)
{
    (void)context;
    size_t n = strlen(seen);
    (void)snprintf(seen + n, sizeof seen - n, "%s=%.*s;", s->name, (int)s->n, s->text);
    return 0;
}

static int see_table(void *context, const struct fixture_table *t)
{
    (void)context;
    size_t n = strlen(seen);
    n += (size_t)snprintf(seen + n, sizeof seen - n, "%s(", t->table);
    for (size_t i = 0; i < t->n_columns; i++)
        n += (size_t)snprintf(seen + n, sizeof seen - n, "%s:%d ", t->names[i], t->types[i]);
    return 0;
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void test_fixtures_come_in_the_order_of_their_names(void)
{
    static const struct fixture_ops ops = { see_script, see_table };
    struct place p;
    if (!place_init(&p) || !CHECK_INT(fchdir(p.fd), 0))
        return;
    CHECK_INT(fixtures_load(&ops, NULL), 0); /* none */
    CHECK_INT(mkdir("fixtures", 0755), 0);
    put_file("fixtures/02_rows.csv", "a, b ,c,d\n1,x,\"5\",\n2.5,y,\"6\",\n");
    put_file("fixtures/01_make.sql", "CREATE");
    put_file("fixtures/notes.txt", "no fixture");
    CHECK_INT(fixtures_load(&ops, NULL), 0);
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted, "fixtures/01_make.sql=CREATE;rows(a:%d b:%d c:%d d:%d ",
                   CSV_NUMBER, CSV_TEXT, CSV_TEXT, CSV_TEXT);
    CHECK_STR(seen, wanted);
    put_file("fixtures/03_bad.csv", "a,b\n1\n");
    CHECK_INT(fixtures_load(&ops, NULL), -1);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_statements_end_at_semicolons_that_are_not_hidden),
    TEST(test_parameters_of_a_statement_are_counted),
    TEST(test_csv_is_read_as_rfc_4180_has_it),
    TEST(test_lines_of_csv_are_counted_over_fields_of_several),
    TEST(test_values_are_numbers_only_if_a_number_gives_them_back),
    TEST(test_tables_move_no_terminal),
    TEST(test_every_format_shows_the_same_result_in_its_way),
    TEST(test_results_without_rows_or_columns_are_shown),
    TEST(test_names_in_json_are_unique),
    TEST(test_values_in_json_keep_every_digit),
    TEST(test_many_rows_are_aligned_by_the_first_and_held_no_longer),
    TEST(test_places_are_lines_and_characters),
    TEST(test_report_is_whole_after_every_result),
    TEST(test_report_has_a_bound_for_the_whole_run),
    TEST(test_fixtures_come_in_the_order_of_their_names),
};
CHECK_MAIN(tests)
