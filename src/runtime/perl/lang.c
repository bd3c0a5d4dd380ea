#include "runtime/language.h"

extern const struct language language_perl;
const struct language language_perl = {
    .name = "perl",
    .aliases = (const char *const[]){ "pl", NULL },
    .extensions = (const char *const[]){ ".pl", ".pm", NULL },
    .main_file = "main.pl",
    /* The module has nothing wait in a buffer, so that a run that is killed keeps what it printed; nothing is seen of it but
     * $|. */
    .command = (const char *const[]){ "/usr/bin/perl", "-I{guest}/perl", "-MBelljarFlush",
                                      FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ NULL },
    /* what --version prints has the number in the middle of it */
    .version = (const char *const[]){ "/usr/bin/perl", "-e", "printf '%vd', $^V", NULL },
    .install = "apt-get install perl",
    .hints = (const char *const[]){ "!^use strict", "!^use warnings", "!^my $",     "!^my @",
                                    "!^my %",       "!my $",          "!my (",      "!^sub ",
                                    "!@{",          "!qw(",           "!^print \"", "!->{",
                                    "!<STDIN>",     "!^chomp",        "!@_",        "!<=>",
                                    "!or die",      "^use ",          "!::Util",    "!print \"",
                                    "!foreach my",  "!scalar(",       "^print ",    "!bless",
                                    "!^while (<",   "!Dumper",        "!^next if ", "!^s/",
                                    "!=~ /",        "!=~ s/",         "!=~ m",      "$_",
                                    "!(<>)",        "\\n\";",         "!$_[",       "!^use lib",
                                    "!^use POSIX",  "!keys %",        "!for my ",   NULL },
};
