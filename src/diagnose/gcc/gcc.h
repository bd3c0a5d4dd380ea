/* diagnose/gcc/gcc.h — what the reading of gcc's errors and the advice for them share. Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

/* Quotes as gcc writes them: round where the locale has them. */
#define GCC_OPEN  "(?:['`\"]|\xE2\x80\x98)"
#define GCC_CLOSE "(?:['\"]|\xE2\x80\x99)"

#define LD_UNDEFINED "undefined reference"
#define LD_MULTIPLE  "multiple definition"

/* The kind of error, with what is advised: of compilers and linkers, and of programs. */
extern const struct rule gcc_compile_rules[], gcc_run_rules[];

/* The first line where the job's files use the name, rather than declare it. */
void gcc_find_use(const struct diagnose_input *in, struct diagnosis *d, struct piece name);
/* The name itself of "ns::Class::name(int)": what is before the brackets and after the last "::". */
struct piece gcc_plain_name(struct piece symbol);

bool gcc_is_cpp(const struct advice *a);
/* "did you mean 'X'?" in the message, where it says so. */
bool gcc_advise_meant(const struct advice *a, struct piece name);
/* For rows (gcc_names.c): what nothing declares, what nothing defines, what is defined twice, a header that is not there. The name
 * is in the first brackets. */
void gcc_advise_undeclared(const struct advice *a);
void gcc_advise_undefined(const struct advice *a);
void gcc_advise_twice_defined(const struct advice *a);
void gcc_advise_header(const struct advice *a);
