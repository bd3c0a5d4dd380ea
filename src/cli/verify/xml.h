/* cli/verify/xml.h — text of programs in XML. Runs in: reporter; pure. */
#pragma once

#include "base/buf.h"

/* Bytes that XML cannot have, even escaped, become U+FFFD. */
[[nodiscard]] int xml_add_escaped(struct buf *out, const char *text, size_t len, struct err *e);
/* name="text" */
[[nodiscard]] int xml_add_attribute(struct buf *out, const char *name, const char *text,
                                    struct err *e);
