/* api/sessions/session_find.h — the session that a path names, and the rights to it. Runs in:
 * keeper. */
#pragma once

#include "api/kernel/api.h"
#include "session/session.h"

/* The session whose id is the first parameter of the path. NULL: the call was answered, or will be:
 * 404 if there is none, 410 with the reason and the time if it ended. */
struct session *session_to_see(struct api_call *c);
/* The same for a change: only the key of the session and keys with scope `admin` may change it. */
struct session *session_to_change(struct api_call *c);
/* The same for a request that needs the program of the session. If it sleeps, NULL: it is woken, and
 * the handler of the route is called again. */
struct session *session_to_use(struct api_call *c);
/* The session that a body of POST /v1/sessions asks for. ret_field (size >= 128) gets the name of a
 * field that is refused. */
[[nodiscard]] int session_spec_from_json(const struct api_call *c, const json_t *body,
                                         struct session_spec *ret, char *ret_field,
                                         size_t field_size, struct err *e);
/* The same for the head of an exported session, whose image nobody is shown. */
[[nodiscard]] int session_spec_of_import(const struct api_call *c, const json_t *body,
                                         struct session_spec *ret, char *ret_field,
                                         size_t field_size, struct err *e);
/* Whether the program of a session works with these limits. */
[[nodiscard]] int session_check_open_files(const struct limits *l, char *ret_field,
                                           size_t field_size, struct err *e);
/* A session as JSON. A new reference. */
json_t *session_object(const struct session *s);
extern const struct api_field session_reply[];
/* Values of `idle`. */
extern const char *const session_idle_words[];
