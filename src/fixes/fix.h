/* fixes/fix.h — a suggestion of a diagnosis as a change of a file. Runs in: keeper, and the process
 * without rights of a command. Pure functions.
 *
 * FIX-1 A change concerns one place: one line goes, or none, and the lines of the replacement come.
 *       All other bytes of the file stay as they are.
 * FIX-2 Sizes are bounded: a file, a line that is changed, and each line of the difference.
 * FIX-3 A replacement is a stranger's text. One with a control character is refused. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
    FIX_TEXT_MAX = 512 << 10, /* bytes of a file that is changed */
    FIX_LINE_MAX = 500,       /* bytes of a line that is changed or shown */
    FIX_CONTEXT = 3,          /* lines around the change in the difference */
};

struct fix_request {
    const char *language; /* of the program; NULL: not known */
    const char *file;     /* its name, for the difference */
    const char *text;
    size_t len;
    uint32_t line;           /* of the error, from 1 */
    const char *replacement; /* of this line, or lines to write */
    bool inserts;            /* they are to be written; the line stays */
};

struct fix {
    uint32_t line;  /* the first line of the change */
    uint32_t added; /* the number of lines that a line behind the change moved down */
    struct buf text;
    struct buf diff; /* in the unified format */
};
void fix_done(struct fix *f);

enum { FIX_PLACES = 3 };
/* A place for a replacement: a line that it takes the place of, or that it stands before. */
struct fix_place {
    uint32_t line;
    bool inserts;
};
/* The places to try: that of the request first. A replacement whose words are those of another line
 * near it, such as a declaration, may belong there. Returns their number. */
size_t fix_places(const struct fix_request *q, struct fix_place ret[FIX_PLACES]);

/* The error says why the suggestion is no change of the file. */
[[nodiscard]] int fix_make(const struct fix_request *q, struct fix *ret, struct err *e);
