/* cli/commands/production.h — `belljar doctor --production`: settings of the machine that weaken a
 * service in use, each with the command that mends it. Runs in: main. The files of /proc, /sys and
 * /etc are read below a root that tests replace; nothing is changed. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum production_state { PRODUCTION_GOOD, PRODUCTION_BAD, PRODUCTION_UNKNOWN };

struct production_finding {
    const char *name;    /* a word for scripts */
    const char *what;    /* the risk if it is bad */
    const char *command; /* that mends it */
    enum production_state state;
    char value[96]; /* found; "": the file is not there */
};

enum { PRODUCTION_CHECKS = 14 };

/* Fills one finding for each row of the table. `root` is "/" or the directory of a test. */
void production_examine(const char *root, struct production_finding ret[PRODUCTION_CHECKS]);
/* Prints them as text, bad ones first; true if none is bad. */
bool production_print(const struct production_finding *findings);
/* An array with an object for each; its `command` is null if nothing is to mend. */
json_t *production_json(const struct production_finding *findings);
