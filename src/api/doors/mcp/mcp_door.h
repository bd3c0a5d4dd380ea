/* api/doors/mcp/mcp_door.h — between mcp_door.c, which has the HTTP, and mcp_request.c, which has
 * the methods. Runs in: keeper. */
#pragma once

#include "api/doors/mcp/mcp.h"

/* The answer of one request. Takes over the reference. */
void mcp_post_answer(struct mcp_post *p, int status, json_t *message);
/* The client hears something, so that no proxy closes the connection. */
void mcp_post_keep_alive(struct mcp_post *p);
/* Whether a client shows forms to a person. */
bool mcp_client_elicits(const json_t *capabilities);
/* NULL: no memory, or too many requests of the owner. */
struct mcp_request *mcp_request_new(struct mcp *m, struct mcp_post *p, struct mcp_session *s,
                                    const struct mcp_client *client, json_t *message);
