/* typescript/typescript.h — shared by the files with the rules for TypeScript. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/node/node.h"

/* The word at the location. */
struct piece ts_word_here(const struct advice *a);
/* typescript_types.c: advice by the types of the program. Each adds a suggestion, and returns true, when they say
 * something. */
void ts_suggest_await(const struct advice *a);
bool ts_missing_case(const struct advice *a, struct piece from);
bool ts_enum_member(const struct advice *a, struct piece from, struct piece to);
bool ts_type_parameter(const struct advice *a, struct piece type, struct piece property);
/* The member of the type that is most similar to the name. */
bool ts_near_member(const struct advice *a, struct piece type, struct piece name, char *out,
                    size_t size);
/* A tuple with more or fewer items than its type allows. */
bool ts_other_length(const struct advice *a, struct piece to);
/* f(...list), where a list may have any length. */
void ts_spread(const struct advice *a);
bool ts_other_kind(const struct advice *a, struct piece from, struct piece to);
