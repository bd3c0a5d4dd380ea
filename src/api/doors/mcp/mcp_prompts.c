/* Prompts, and completions of arguments. */
#include <stdio.h>
#include <string.h>

#include "api/doors/mcp/mcp.h"
#include "api/runs/history_routes.h"
#include "api/sessions/session_find.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { ARGUMENTS_MAX = 3, COMPLETIONS_MAX = 100 };

/* In a text, {name} is the value of an argument. A line with an argument that is absent is left
 * out. */
static const struct prompt {
    const char *name, *title, *description;
    struct {
        const char *name, *help;
        bool required;
    } arguments[ARGUMENTS_MAX];
    const char *text;
} prompts[] = {
    { "fix_code",
      "Fix a program",
      "Run a program, and correct it until it works.",
      { { "code", "the program", true },
        { "language", "its language", false },
        { "goal", "the expected behaviour", false } },
      "Run the program below with the tool run_code.\n"
      "Its language is {language}.\n"
      "It should do this: {goal}\n"
      "If the result is a failure, read its diagnosis first, correct the program, and run it "
      "again, up to five times. Then show the final program and its output.\n"
      "\n"
      "{code}\n" },
    { "analyze_data",
      "Analyse data",
      "Answer a question about data, with a plot.",
      { { "question", "the question", true }, { "data", "the data, as CSV or JSON text", false } },
      "Answer this question with the tools of Belljar: {question}\n"
      "Write the data to a file with write_file, load it with pandas in run_cell, look at its "
      "columns, compute the answer, and draw one plot with matplotlib.\n"
      "The data:\n"
      "{data}\n" },
};

static const struct prompt *find_prompt(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(prompts); i++)
        if (strcmp(prompts[i].name, name) == 0)
            return &prompts[i];
    return NULL;
}

void mcp_prompts_list(struct mcp_request *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(prompts); i++) {
        const struct prompt *p = &prompts[i];
        json_t *arguments = json_array();
        for (int k = 0; k < ARGUMENTS_MAX && p->arguments[k].name; k++)
            (void)json_array_append_new(
                arguments, json_pack("{s:s, s:s, s:b}", "name", p->arguments[k].name, "description",
                                     p->arguments[k].help, "required", p->arguments[k].required));
        json_t *o = json_pack("{s:s, s:s, s:o}", "name", p->name, "description", p->description,
                              "arguments", arguments);
        if (r->client.revision >= MCP_2025_06_18)
            json_put(o, "title", json_string(p->title));
        (void)json_array_append_new(list, o);
    }
    mcp_answer_list(r, json_pack("{s:o}", "prompts", list), 3600000);
}

/* The line, with the values of its arguments; nothing if one is absent. */
static int add_line(struct buf *b, const char *line, size_t n, const json_t *arguments,
                    struct err *e)
{
    scoped(buf) made = { 0 };
    for (size_t i = 0; i < n; i++) {
        const char *end = line[i] == '{' ? memchr(line + i, '}', n - i) : NULL;
        if (!end) {
            if (buf_add(&made, line + i, 1, e))
                return -1;
            continue;
        }
        char name[32];
        (void)snprintf(name, sizeof name, "%.*s", (int)(end - line - (long)i - 1), line + i + 1);
        const char *value = mcp_text(arguments, name);
        if (!value)
            return 0;
        if (buf_add(&made, value, strlen(value), e))
            return -1;
        i = (size_t)(end - line);
    }
    return buf_add(b, buf_str(&made), made.len, e);
}

static int check_arguments(const struct prompt *p, const json_t *arguments, struct err *e)
{
    for (int i = 0; i < ARGUMENTS_MAX && p->arguments[i].name; i++)
        if (p->arguments[i].required && !mcp_text(arguments, p->arguments[i].name))
            return err_set(e, ERR_BAD_REQUEST, 0, "the prompt %s needs the argument '%s', a text",
                           p->name, p->arguments[i].name);
    return 0;
}

void mcp_prompts_get(struct mcp_request *r)
{
    const char *name = mcp_text(r->params, "name");
    const struct prompt *p = find_prompt(name);
    const json_t *arguments = json_object_get(r->params, "arguments");
    int status = mcp_is_stateless(r) ? 400 : 200;
    scoped(buf) text = { 0 };
    struct err e = { 0 };
    if (!p) {
        mcp_error(r, status, MCP_BAD_PARAMS, "there is no prompt '%s': prompts/list has them",
                  QUOTED(name ? name : ""));
        return;
    }
    if (check_arguments(p, arguments, &e)) {
        mcp_error(r, status, MCP_BAD_PARAMS, "%s", e.text);
        return;
    }
    for (const char *at = p->text; *at;) {
        size_t n = strcspn(at, "\n") + 1;
        if (add_line(&text, at, n, arguments, &e)) {
            mcp_error(r, 500, MCP_INTERNAL, "%s", e.text);
            return;
        }
        at += n;
    }
    mcp_answer(r, json_pack("{s:s, s:[{s:s, s:o}]}", "description", p->description, "messages",
                            "role", "user", "content", mcp_text_content(buf_str(&text), text.len)));
}

/* ---- completions ---- */

static void complete_language(json_t *list, const char *prefix)
{
    for (const struct language *const *l = languages; *l; l++)
        if (strncmp((*l)->name, prefix, strlen(prefix)) == 0)
            (void)json_array_append_new(list, json_string((*l)->name));
}

static void complete_session(const struct mcp_request *r, json_t *list, const char *prefix)
{
    for (const struct session *s = sessions_first(r->mcp->api->sessions);
         s && json_array_size(list) < COMPLETIONS_MAX; s = s->next)
        if (strncmp(s->id, prefix, strlen(prefix)) == 0 &&
            history_may_see(r->post->call, s->spec.key, s->created_ms))
            (void)json_array_append_new(list, json_string(s->id));
}

void mcp_complete(struct mcp_request *r)
{
    const json_t *argument = json_object_get(r->params, "argument");
    const json_t *ref = json_object_get(r->params, "ref");
    const char *name = mcp_text(argument, "name"), *prefix = mcp_text(argument, "value");
    const char *uri = mcp_text(ref, "uri");
    if (!name || !prefix || !mcp_text(ref, "type")) {
        mcp_error(r, mcp_is_stateless(r) ? 400 : 200, MCP_BAD_PARAMS,
                  "completion/complete needs ref.type, argument.name and argument.value");
        return;
    }
    json_t *list = json_array();
    if (strcmp(name, "language") == 0)
        complete_language(list, prefix);
    else if (uri && strncmp(uri, "belljar://sessions/", 19) == 0 && strcmp(name, "id") == 0)
        complete_session(r, list, prefix);
    mcp_answer(r, json_pack("{s:{s:o, s:b}}", "completion", "values", list, "hasMore", false));
}
