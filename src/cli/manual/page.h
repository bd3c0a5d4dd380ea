/* cli/manual/page.h — text for people in two forms: --help at 80 columns, and roff for man(1).
 * Runs in: main. Texts are ASCII; paragraphs are separated by an empty line. */
#pragma once

#include <stdio.h>

struct page {
    FILE *out;
    enum { PAGE_HELP, PAGE_ROFF } form;
};

/* The line that opens a man page. */
void page_title(struct page *p, const char *name, int section);
/* A heading such as "Exit status". */
void page_section(struct page *p, const char *title);
void page_text(struct page *p, const char *paragraphs);
/* A term such as "--memory SIZE" and its description. */
void page_item(struct page *p, const char *term, const char *text);
/* A usage line of a man page. */
void page_synopsis(struct page *p, const char *line);
/* A line that is not wrapped, such as a command line. */
void page_code(struct page *p, const char *line);
