/* runtime/plain/pages.h — which pages of its memory any job touches. Runs in: a zygote, its scout, embryos.
 *
 * An embryo shares its memory with the zygote, page by page, until it touches it; each first touch costs as much as a
 * thousand instructions, and they make up most of a short run. Which pages any job touches is found out once: a scout, forked
 * before the first embryo, runs a program such as may come and tells what has become its own, and what it read. An
 * embryo then asks for all of that at once, while it has nothing else to do. Without /proc or on a kernel that cannot, there
 * is nothing to ask for, and all is as before. */
#pragma once

/* In the scout, when it has done what it does: tells it and ends. */
_Noreturn void pages_tell(int to);
/* In the zygote: hears it, to the end. */
void pages_hear(int from);
/* In an embryo. */
void pages_touch(void);
