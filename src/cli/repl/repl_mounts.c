#include "cli/repl/repl_mounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/strv.h"
#include "base/text.h"

int repl_mounts_check(const struct repl_mounts *m, const char *session, struct err *e)
{
    if (m->secrets && !m->dirs)
        return err_set(e, ERR_USAGE, 0,
                       "--mount-secrets is given without --mount: name a directory");
    if (m->dirs && session)
        return err_set(e, ERR_USAGE, 0,
                       "--mount is given with --session: a session keeps the mounts of its start; "
                       "start a new one");
    return 0;
}

int repl_mounts_allow(struct repl_mounts *m, struct err *e)
{
    scoped(buf) text = { 0 };
    if (!m->dirs)
        return 0;
    for (size_t i = 0; m->dirs[i]; i++) {
        if (strchr(m->dirs[i], ','))
            return err_set(e, ERR_USAGE, 0,
                           "--mount '%s' has a comma in its path, which the setting mounts.roots "
                           "cannot hold: rename the directory",
                           QUOTED(m->dirs[i]));
        if (buf_addf(&text, e, "%s%s", i ? "," : "mounts.roots=", m->dirs[i]))
            return -1;
    }
    m->roots = strdup(buf_str(&text));
    if (!m->roots)
        return err_no_memory(e, "the options");
    m->set[0] = m->roots;
    m->set[1] = m->secrets ? "mounts.secrets=true" : NULL;
    return 0;
}

json_t *repl_mounts_object(const struct repl_mounts *m)
{
    json_t *list = m->dirs ? json_array() : NULL;
    for (size_t i = 0; m->dirs && m->dirs[i]; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "from", m->dirs[i], "to",
                                                    m->names[i], "secrets", m->secrets));
    return list;
}

void repl_mounts_done(struct repl_mounts *m)
{
    strv_free(m->dirs);
    strv_free(m->names);
    free(m->roots);
    *m = (struct repl_mounts){ 0 };
}
