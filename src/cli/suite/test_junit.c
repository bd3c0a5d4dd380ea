/* JUnit XML of a test run: one test suite, as the runner reports it. */
#include <string.h>

#include "base/auto.h"
#include "cli/suite/test_report.h"
#include "cli/verify/xml.h"
#include "run/json.h"

static int add_reason(const json_t *test, const char *element, struct buf *out, struct err *e)
{
    scoped(buf) details = { 0 };
    const char *type = json_get_text(json_object_get(test, "diagnosis"), "type");
    if (buf_addf(out, e, "      <%s", element) ||
        xml_add_attribute(out, "message", json_get_text(test, "message"), e))
        return -1;
    if (strcmp(element, "skipped") == 0)
        return buf_addf(out, e, "/>\n");
    if (xml_add_attribute(out, "type", *type ? type : element, e) || buf_add(out, ">", 1, e) ||
        test_details(test, &details, e) || xml_add_escaped(out, buf_str(&details), details.len, e))
        return -1;
    return buf_addf(out, e, "</%s>\n", element);
}

static int add_case(const json_t *test, const char *runner, struct buf *out, struct err *e)
{
    static const char *const elements[][2] = { { "failed", "failure" },
                                               { "error", "error" },
                                               { "skipped", "skipped" } };
    const json_t *line = json_object_get(test, "line"),
                 *duration = json_object_get(test, "duration_ms");
    if (buf_addf(out, e, "    <testcase") ||
        xml_add_attribute(out, "name", json_get_text(test, "name"), e) ||
        xml_add_attribute(out, "classname", runner, e))
        return -1;
    if (*json_get_text(test, "file") &&
        xml_add_attribute(out, "file", json_get_text(test, "file"), e))
        return -1;
    if (json_is_integer(line) &&
        buf_addf(out, e, " line=\"%lld\"", (long long)json_integer_value(line)))
        return -1;
    if (json_is_number(duration) &&
        buf_addf(out, e, " time=\"%.3f\"", json_number_value(duration) / 1000))
        return -1;
    if (buf_addf(out, e, ">\n"))
        return -1;
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strcmp(json_get_text(test, "outcome"), elements[i][0]) == 0 &&
            add_reason(test, elements[i][1], out, e))
            return -1;
    return buf_addf(out, e, "    </testcase>\n");
}

/* A run that a limit ended is an error of the whole: its tests alone could look good. */
static int add_end(const json_t *result, struct buf *out, struct err *e)
{
    const char *outcome = json_get_text(result, "outcome"),
               *verdict = json_get_text(result, "verdict");
    if (strcmp(outcome, "passed") == 0 || strcmp(outcome, "failed") == 0)
        return 0;
    return buf_addf(out, e,
                    "    <testcase name=\"the run\" classname=\"belljar\">\n      <error") ||
                   xml_add_attribute(out, "message", outcome, e) ||
                   xml_add_attribute(out, "type", verdict, e) ||
                   buf_addf(out, e, "/>\n    </testcase>\n")
               ? -1
               : 0;
}

static int add_totals(const json_t *result, struct buf *out, struct err *e)
{
    const json_t *tests = json_object_get(result, "tests"),
                 *usage = json_object_get(result, "usage");
    const char *outcome = json_get_text(result, "outcome");
    bool other = strcmp(outcome, "passed") != 0 && strcmp(outcome, "failed") != 0;
    return buf_addf(
        out, e,
        " tests=\"%lld\" failures=\"%lld\" errors=\"%lld\" skipped=\"%lld\" time=\"%.3f\">\n",
        (long long)json_integer_value(json_object_get(tests, "total")) + other,
        (long long)json_integer_value(json_object_get(tests, "failed")),
        (long long)json_integer_value(json_object_get(tests, "error")) + other,
        (long long)json_integer_value(json_object_get(tests, "skipped")),
        json_number_value(json_object_get(usage, "wall_ms")) / 1000);
}

int test_junit(const json_t *result, struct buf *out, struct err *e)
{
    const json_t *tests = json_object_get(result, "tests");
    const char *runner = json_get_text(tests, "runner");
    size_t i;
    json_t *test;
    if (buf_addf(out, e,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"belljar test\"") ||
        add_totals(result, out, e) || buf_addf(out, e, "  <testsuite") ||
        xml_add_attribute(out, "name", runner, e) || add_totals(result, out, e))
        return -1;
    json_array_foreach(json_object_get(tests, "cases"), i, test)
        if (add_case(test, runner, out, e))
            return -1;
    if (add_end(result, out, e))
        return -1;
    return buf_addf(out, e, "  </testsuite>\n</testsuites>\n");
}
