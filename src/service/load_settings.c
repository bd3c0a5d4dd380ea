#include "service/load_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "engine/pools/pools.h"

enum { CONFIG_MAX_BYTES = 64 << 10 };

static int read_config(const char *path, struct settings *s, struct err *e)
{
    char quoted[96];
    scoped(buf) text = { 0 };
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open the settings '%s'",
                       text_quote(path, quoted, sizeof quoted));
    if (fd_read_to_buf(fd, CONFIG_MAX_BYTES, &text, e))
        return err_wrap(e, "the settings '%s'", text_quote(path, quoted, sizeof quoted));
    return settings_parse(s, path, buf_str(&text), text.len, e);
}

int service_load_settings(const struct service_options *o, struct settings *ret, struct err *e)
{
    struct settings s = settings_default();
    const char *debug = getenv("DEBUG"), *workspace = getenv("OUTPUT_DATA_PATH");
    s.debug = debug && strcmp(debug, "1") == 0;
    if (workspace && *workspace && settings_set(&s, "execute.workspace", workspace, e))
        return err_wrap(e, "$OUTPUT_DATA_PATH");
    if (o->config && read_config(o->config, &s, e))
        return -1;
    for (size_t i = 0; i < o->n_sets; i++)
        if (settings_set_pair(&s, o->sets[i], e))
            return -1;
    uint32_t kinds;
    if (settings_check(&s, e) || pools_preload(s.pools_preload, &kinds, e))
        return -1;
    *ret = s;
    return 0;
}
