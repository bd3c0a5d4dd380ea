/* runtime/plain/pages.h — the pages of memory that every job touches. Runs in: a zygote, its page
 * probe, embryos.
 *
 * An embryo shares each page with the zygote until it touches the page. A first touch costs about
 * as much as a thousand instructions, and these faults are most of the time of a short run. The
 * zygote therefore learns the pages once: before the first embryo it forks a page probe. The probe
 * runs a typical program and reports the pages that it wrote or read. Each embryo then requests all
 * of these pages at once while it waits for its job. Without /proc, or on a kernel without these
 * calls, the list is empty and nothing else changes. */
#pragma once

/* In the page probe, after its program: reports the pages and exits. */
_Noreturn void pages_report(int to);
/* In the zygote: reads the report to its end. */
void pages_receive(int from);
/* In an embryo: requests the pages. */
void pages_touch(void);
