#include "console/console.h"

#include <string.h>

/* A file of the build; scripts/console-assets makes it from console/dist. */
extern const unsigned char console_blob[];

static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/* The frame has no origin, so its requests would be those of a stranger; and it may make none. */
static const char frame_policy[] =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'; webrtc 'block'";

const struct console_file *console_find(const char *name)
{
    for (const struct console_file *f = console_files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

const void *console_bytes(const struct console_file *f)
{
    return console_blob + f->offset;
}

const char *console_policy(const struct console_file *f)
{
    return strcmp(f->name, "frame.html") == 0 ? frame_policy : page_policy;
}
