/* guests/sql/warm.h — functions of guest-postgres for its driver (src/runtime/postgres). Weak, so
 * that the driver can report that they are missing. */
#pragma once

/* In the zygote: NULL if a server can be started, otherwise the reason. */
[[gnu::visibility("default"), gnu::weak]] const char *sql_server_check(void);
/* In an embryo, before its job: starts the server and connects to it. If the server ends before the
 * job comes, the embryo ends too. If the server does not start, main() tries again and reports the
 * error. */
[[gnu::visibility("default"), gnu::weak]] void sql_server_begin(void);
