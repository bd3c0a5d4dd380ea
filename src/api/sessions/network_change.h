/* api/sessions/network_change.h — another network list for a session that lives. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"
#include "session/session.h"

/* The list of the request; without one *ret is untouched. A list that opens more than that of the
 * session is refused if a person would have to approve a run with it: the code that uses it runs
 * already. */
[[nodiscard]] int network_change_parse(const struct api_call *c, const struct session *s,
                                       struct network_policy *ret, char *field, size_t size,
                                       struct err *e);
/* Answers with the session, once its network is as its list says, or cannot be. */
void network_change_reply(struct api_call *c, struct session *s);
