/* suite/report.h — for the parsers of this room: lines of a text, and a report that grows. */
#pragma once

#include <string.h>

#include "suite/suite.h"

/* A part of the text. */
struct part {
    const char *at;
    size_t n;
};
#define PART(literal) ((struct part){ (literal), sizeof(literal) - 1 })

struct lines {
    const char *at, *end;
};
/* The next line, without its end. False: there are no more. */
bool lines_next(struct lines *l, struct part *ret);
/* The lines of a part, which may be empty. */
struct lines lines_of(struct part p);

bool part_is(struct part p, const char *word);
bool part_begins(struct part p, const char *word);
bool part_ends(struct part p, const char *word);
/* The same without n bytes at its begin; empty if it is shorter. */
struct part part_after(struct part p, size_t n);
struct part part_before(struct part p, size_t n); /* the first n bytes */
struct part part_trim(struct part p);             /* without blanks at both ends */
/* The place of a word in it; p.n if it is not there. */
size_t part_find(struct part p, const char *word);
/* A decimal number such as "0.25" at its begin; -1: there is none. */
double part_seconds(struct part p);

/* A new case. NULL: the report is full. Valid until the next one is added. */
struct suite_case *case_add(struct suite_report *r, struct part name, enum suite_outcome o);
/* The last case of this name; NULL: there is none. */
struct suite_case *case_find(const struct suite_report *r, struct part name);
/* These replace the text that is there. */
void case_message(struct suite_report *r, struct suite_case *c, struct part text);
void case_details(struct suite_report *r, struct suite_case *c, struct part text);
/* A place in the files of the project: "/sandbox/" in front of the name is cut off. */
void case_place(struct suite_report *r, struct suite_case *c, struct part file, uint32_t line);
/* "FILE:LINE" at the begin of the text. */
bool part_place(struct part p, struct part *ret_file, uint32_t *ret_line);
