/* sql/warm.h — what guest-postgres offers to the driver that is loaded into it (src/runtime/postgres). Weak, so that the driver can say what is missing from another program. */
#pragma once

/* In the zygote: NULL when there is a server to start, else why not. */
[[gnu::visibility("default"), gnu::weak]] const char *sql_server_check(void);
/* In an embryo, before its job: the server is up and connected to. Should it end before the job comes, so does the embryo.
 * A server that does not come up is for main() to try again, and to speak of. */
[[gnu::visibility("default"), gnu::weak]] void sql_server_begin(void);
