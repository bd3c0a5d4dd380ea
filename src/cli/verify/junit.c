/* JUnit XML. There is no standard: this is the part that all CI systems read. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "cli/verify/report.h"
#include "cli/verify/xml.h"

static int add_reason(const struct checks *all, const struct check *c, struct buf *out,
                      struct err *e)
{
    static const char *const elements[OUTCOME_COUNT_] = { [OUTCOME_FAILED] = "failure",
                                                          [OUTCOME_ERROR] = "error",
                                                          [OUTCOME_SKIPPED] = "skipped",
                                                          [OUTCOME_PENDING] = "skipped" };
    const char *element = elements[c->outcome];
    const char *verdict = json_string_value(json_object_get(c->result, "verdict"));
    scoped(buf) details = { 0 };
    if (!element)
        return 0;
    if (buf_addf(out, e, "      <%s", element) ||
        xml_add_attribute(out, "message", c->why[0] ? c->why : "not run", e))
        return -1;
    if (strcmp(element, "skipped") == 0)
        return buf_addf(out, e, "/>\n");
    if (xml_add_attribute(out, "type", verdict ? verdict : "error", e) || buf_add(out, ">", 1, e) ||
        report_details(all, c, &details, e) ||
        xml_add_escaped(out, buf_str(&details), details.len, e))
        return -1;
    return buf_addf(out, e, "</%s>\n", element);
}

static int add_case(const struct checks *all, const struct check *c, struct buf *out, struct err *e)
{
    char name[96];
    const char *language = c->language ? c->language->name : "";
    const char *kind = check_kind_word(c->kind);
    if (c->line)
        (void)snprintf(name, sizeof name, "line %zu: %s %s", c->line, language, kind);
    else
        (void)snprintf(name, sizeof name, "%s", kind);
    if (buf_addf(out, e, "    <testcase") || xml_add_attribute(out, "name", name, e) ||
        xml_add_attribute(out, "classname", c->file, e) ||
        xml_add_attribute(out, "file", c->file, e) ||
        (c->line && buf_addf(out, e, " line=\"%zu\"", c->line)) ||
        buf_addf(out, e, " time=\"%llu.%03llu\">\n", (unsigned long long)c->wall_ms / 1000,
                 (unsigned long long)c->wall_ms % 1000) ||
        add_reason(all, c, out, e))
        return -1;
    return buf_addf(out, e, "    </testcase>\n");
}

static int add_totals(const struct checks *part, uint64_t ms, struct buf *out, struct err *e)
{
    struct totals t = totals_of(part);
    return buf_addf(
        out, e,
        " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%llu.%03llu\">\n",
        part->n, t.n[OUTCOME_FAILED], t.n[OUTCOME_ERROR],
        t.n[OUTCOME_SKIPPED] + t.n[OUTCOME_PENDING], (unsigned long long)ms / 1000,
        (unsigned long long)ms % 1000);
}

/* The checks of one file; they stand together. */
static int add_suite(const struct checks *all, const struct checks *part, struct buf *out,
                     struct err *e)
{
    uint64_t ms = 0;
    for (size_t i = 0; i < part->n; i++)
        ms += part->at[i].wall_ms;
    if (buf_addf(out, e, "  <testsuite") || xml_add_attribute(out, "name", part->at[0].file, e) ||
        add_totals(part, ms, out, e))
        return -1;
    for (size_t i = 0; i < part->n; i++)
        if (add_case(all, &part->at[i], out, e))
            return -1;
    return buf_addf(out, e, "  </testsuite>\n");
}

int junit_make(const struct checks *all, uint64_t took_ms, struct buf *out, struct err *e)
{
    if (buf_addf(
            out, e,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"belljar verify\"") ||
        add_totals(all, took_ms, out, e))
        return -1;
    for (size_t i = 0, n = 0; i < all->n; i += n) {
        n = 1;
        while (i + n < all->n && strcmp(all->at[i].file, all->at[i + n].file) == 0)
            n++;
        const struct checks part = { &all->at[i], n };
        if (add_suite(all, &part, out, e))
            return -1;
    }
    return buf_addf(out, e, "</testsuites>\n");
}
