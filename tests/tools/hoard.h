/* hoard.h — shared by the files of hoard only. Runs in: a jar. */
#pragma once

#include <stdbool.h>

enum { DATA = 1 << 16 };
extern char data[DATA];

/* Room for two more descriptors, if need be in a new process. */
bool has_room(void);

/* hoard_sockets.c: each takes that many objects of its class, and returns how many it has. */
long accept_queues(long count);
long accept_data(long count);
long time_wait(long count);
long tcp_pairs(long count);
long tcp_drops(long count);
long tcp_data(long count);
long udp_data(long count);
long destinations(long count);
long unix_data(long count);
long in_flight(long count);
int tcp_socket(void);
