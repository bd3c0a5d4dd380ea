/* bench/bench_dns.h — the name server of the small internet (bench_world.h). It lies: a name has a public
 * address at first and one that no run may reach later. It counts the questions that nobody should have asked. */
#pragma once

#include <stdatomic.h>

/* Names beneath it are served. b0, b1, …: the first answer is WORLD_ADDRESS, later ones are an address of the corpus.
 * d0, …: that address at once. m0, … and n0, …: the same as an IPv4-mapped and as a NAT64 address. */
#define DNS_ZONE   "rebind.example"
#define DNS_CORPUS 16

struct dns_counts {
    _Atomic unsigned served, others; /* questions for names of the zone, and for other names */
};
/* A socket for questions to every address of this namespace. */
[[nodiscard]] int dns_listen(void);
/* Answers the questions that wait. */
void dns_serve(int fd, struct dns_counts *counts);
