/* The digest of a run_spec. Declared in engine/run.h. A member of run_spec or run_options that
 * changes the run has to be added here. */
#include "engine/run.h"
#include "spec/bundle.h"

static void add_limits(struct digest *d, const struct limits *l)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        digest_add_number(d, l->v[i]);
}

static void add_options(struct digest *d, const struct run_options *o)
{
    digest_add_number(d, o->profile);
    digest_add_number(d, o->display);
    digest_add_number(d, o->check_types);
    digest_add_number(d, o->no_cache);
    digest_add_number(d, o->format);
    digest_add_list(d, o->allow_commands);
    digest_add_list(d, o->compiler_args);
    add_limits(d, &o->compile_limits);
}

/* Entry by entry: a bundle has the byte order of the machine. */
static void add_files(struct digest *d, const struct buf *bundle)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(bundle, &pos, &f, &more, &e) == 0 && more;) {
        digest_add(d, f.name, f.head.name_len);
        digest_add_number(d, f.head.mode);
        digest_add(d, f.bytes, (size_t)f.head.size);
    }
    digest_add_text(d, NULL); /* the end of the files */
}

static void add_network(struct digest *d, const struct network_policy *p)
{
    char rule[NETWORK_RULE_TEXT];
    if (p->mode == NETWORK_NONE) /* as before there were networks: approvals that wait stay valid */
        return;
    digest_add_number(d, p->mode);
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        digest_add_number(d, p->caps.v[i]);
    for (size_t i = 0; i < p->n; i++)
        digest_add_text(d, network_rule_text(&p->rules[i], rule));
    digest_add_text(d, NULL);
    for (size_t i = 0; i < p->n_injects; i++) {
        char inject[NETWORK_INJECT_TEXT];
        digest_add_text(d, network_inject_text(&p->injects[i], inject));
    }
    digest_add_text(d, NULL);
}

void run_spec_digest(const struct run_spec *s, char ret[DIGEST_HEX])
{
    struct digest d;
    digest_begin(&d);
    digest_add_text(&d, s->language->name);
    digest_add_text(&d, s->main_name);
    add_files(&d, &s->bundle);
    digest_add(&d, buf_str(&s->stdin_bytes), s->stdin_bytes.len);
    digest_add_number(&d, s->stdin_open);
    digest_add_list(&d, s->args);
    digest_add_list(&d, s->env);
    digest_add_list(&d, s->outputs);
    digest_add_number(&d, s->writable_root);
    add_limits(&d, &s->limits);
    add_options(&d, &s->options);
    digest_add_text(&d, s->template_image);
    add_network(&d, &s->network);
    for (size_t i = 0; i < s->n_stages; i++) { /* their files are among the others */
        digest_add_text(&d, s->stages[i].name);
        digest_add_text(&d, s->stages[i].language->name);
        digest_add_text(&d, s->stages[i].main_name);
        digest_add_number(&d, (uint64_t)s->stages[i].expect_exit);
        add_limits(&d, &s->stages[i].limits);
    }
    if (s->mounts) /* as before there were mounts, for the reason in add_network() */
        digest_add_list(&d, s->mounts);
    (void)digest_end_hex(&d, ret);
}
