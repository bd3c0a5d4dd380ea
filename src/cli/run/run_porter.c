#include "cli/run/run_porter.h"

#include "base/auto.h"
#include "base/fdio.h"
#include "injector/start.h"
#include "porter/plan.h"
#include "wire/wire.h"

int run_porter_start(struct run_porter *p, const struct run_arguments *o, struct err *e)
{
    scoped(address_set) private_ranges = { 0 };
    if (o->network.mode == NETWORK_NONE)
        return 0;
    if (plan_possible(&o->network, e) ||
        (o->network_private.len > 0 &&
         address_set_parse(buf_str(&o->network_private), &private_ranges, e)) ||
        keeper_uid_for_command(&p->uid, e))
        return -1;
    autoclose int environment = -1;
    if (o->network.n_injects > 0 && injector_take_environment(&environment, e))
        return -1;
    const struct injector_setup injector = { .grants = buf_str(&o->network_grants),
                                             .environment_fd = environment,
                                             .uid = p->uid.uid };
    const struct porter_setup setup = { .private_ranges = &private_ranges,
                                        .match_sni = true,
                                        .uid = p->uid.uid,
                                        .injector = o->network.n_injects > 0 ? &injector : NULL };
    return porter_start(&setup, &p->process, e) ||
                   wire_new_keeper(p->process.fd, 1, &p->keeper_fd, e) ||
                   fd_set_nonblock(p->keeper_fd, e)
               ? -1
               : 0;
}

void run_porter_done(struct run_porter *p)
{
    fd_close(&p->keeper_fd);
    porter_stop(&p->process);
    keeper_uid_done(&p->uid);
}
