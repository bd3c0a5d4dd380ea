/* diagnose/gcc/gcc.h — shared by the files that read and explain errors of C and C++. Runs in:
 * keeper. Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

/* gcc's quotes: typographic ones in some locales. */
#define GCC_OPEN  "(?:['`\"]|\xE2\x80\x98)"
#define GCC_CLOSE "(?:['\"]|\xE2\x80\x99)"

#define LD_UNDEFINED "undefined reference"
#define LD_MULTIPLE  "multiple definition"

/* Rules for errors of compilers and linkers, and of programs. */
extern const struct rule gcc_compile_rules[], gcc_run_rules[];

/* The location becomes the first line of the job's files that uses the name and does not declare
 * it. */
void gcc_find_use(const struct diagnose_input *in, struct diagnosis *d, struct piece name);
/* The plain name of "ns::Class::name(int)": without the brackets and the part up to the last
 * "::". */
struct piece gcc_plain_name(struct piece symbol);

bool gcc_is_cpp(const struct advice *a);
/* Repeats the compiler's hint "did you mean 'X'?". False when there is none. */
bool gcc_advise_meant(const struct advice *a, struct piece name);
/* For rows (gcc_names.c); the name is in the first group: a name that is not declared, a name that
 * is not defined, a name that is defined twice, and a header that does not exist. */
void gcc_advise_undeclared(const struct advice *a);
void gcc_advise_undefined(const struct advice *a);
void gcc_advise_twice_defined(const struct advice *a);
void gcc_advise_header(const struct advice *a);
/* gcc_crash.c: the cause of a crash by the source. False when the source does not show it. */
bool gcc_explain_crash(const struct advice *a);
/* For rows (gcc_crash.c): a pointer that is freed, and that malloc() did not return. */
void gcc_explain_free(const struct advice *a);
/* "Run it again with the sanitizers ...": the next step when the source does not show the cause. */
extern const char gcc_sanitizers[];
