/* JSON of a client as the command of a sandbox, and as the facts that the metadata of a session has. */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/shell_line.h"
#include "api/doors/e2b/e2b.h"
#include "base/strv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_same_words(const json_t *process, char *const *words)
{
    const json_t *args = json_object_get(process, "args");
    const char *cmd = json_string_value(json_object_get(process, "cmd"));
    size_t n = json_array_size(args);
    if (strv_len((char **)words) != n + 1 || strcmp(words[0], cmd && *cmd ? cmd : "/bin/bash") != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i + 1], json_string_value(json_array_get(args, i))) != 0)
            return false;
    return true;
}

/* If the line is one command (SHELL-1), it is the command that the helper starts: its words, or the line
 * of `bash -c`. */
static void check(const json_t *body, const struct e2b_command *x)
{
    const json_t *process = json_object_get(body, "process"), *args, *last;
    const char *line = json_string_value(x->shown);
    char **words = NULL;
    struct err e;
    args = json_object_get(process, "args");
    last = json_array_get(args, json_array_size(args) - 1);
    bool is_line = json_array_size(args) >= 2 && json_equal((json_t *)last, x->shown);
    if (!is_line && shell_line_words(line, strlen(line), &words, &e) == 0 &&
        !has_same_words(process, words))
        abort();
    strv_free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *body = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    struct e2b_command command = { 0 };
    struct err e;
    if (e2b_command_read(body, &command, &e) == 0)
        check(body, &command);
    e2b_command_done(&command);
    (void)e2b_facts_fit(body);
    json_decref(body);
    return 0;
}
