/* runtime/perl/lang.c — the declaration of perl; see runtime/language.h. Pure data. */
#include "runtime/language.h"

DECLARE_LANGUAGE(perl) = {
    NAMED("perl", "main.pl", WORDS(".pl", ".pm"), WORDS("pl")),
    /* The module unbuffers stdout, so that a killed run keeps its output. A program can notice it
     * only by $|. */
    .command = WORDS("/usr/bin/perl", "-I{guest}/perl", "-MBelljarFlush", FILE_ARGUMENT),
    .env = NO_WORDS,
    /* --version prints the number in the middle of a sentence. */
    .version = WORDS("/usr/bin/perl", "-e", "printf '%vd', $^V"),
    .install = "apt-get install perl",
    .hints = WORDS(
        "!^use strict", "!^use warnings", "!^use feature", "!^use v5", "!^use utf8", "!^use lib",
        "!^use POSIX", "!^use List", "!^use Data", "!^use Time", "!^use constant", "^use ",
        "!^no strict", "!^my $", "!^my @", "!^my %", "!^my (", "!^our ", "!^local $", "!my $",
        "!my (", "!my @", "!^sub ", "!sub {", "!@{", "%{", "!@$", "!%$", "!qw(", "!qw/",
        "!^print \"", "!print \"", "^print ", "!^say ", "!^say \"", "!print STDERR", "!print join",
        "!print scalar", "!printf \"", "!->{", "!->[", "!->new", "!<STDIN>", "!<$fh>", "!<FH>",
        "!^chomp", "!chomp(", "!@_", "<=>", "! cmp ", "! eq ", "! ne ", "!or die", "!|| die",
        "!^die ", "!die \"", "!::Util", "!foreach my", "!for my ", "!^foreach ", "!for (@",
        "!for @", "! for 1..", "!scalar(", "!scalar @", "!scalar reverse", "!bless", "!shift;",
        "!= shift", "!^push @", "!push @", "!^return wantarray", "!^while (<", "!^while (my",
        "!Dumper", "!^next if ", "!^next unless ", "!^last if ", "!^s/", "!=~", "!=~ /", "!=~ s/",
        "!=~ m", "!=~ tr", "!!~", "!tr/", "!$_", "$_", "!$_[", "!$#", "!@ARGV", "!$ARGV[",
        "!@array", "!$!", "!(<>)", "!\\n\";", "!keys %", "!values %", "!each %", "!exists $",
        "!defined $", "!delete $", "!grep {", "!sort keys", "!join(\", \"", "!join(\",\",",
        "split(", "!split /", "!^unless (", "! unless ", "! if $", "^if ($", "!elsif (", "!^open(",
        "!local $_", "!__END__", "!__PACKAGE__", "^package ", "^1;", "!|1;", "^$", "^@", " => ",
        " . ", "|#", "-^echo ", "-function ", "-console.", "-; then", "-; do", "-|fi", "-|done",
        "-^def ", "-std::", "-let ", "-const ", "-^import ", "-#include", "-$this->", "-public ",
        "-^class ", "-=\"$", "-foreach ($", "- as $", "-<?php", "-^puts ", "-|end", "-=> {",
        "-^for ($i = ", "-PHP_EOL", "-~:", "-cout", "-===", "-printf(", "-System.", "-^local -",
        "-print_r", "-array_", "-json_", "-fn", "-strlen", "-: string", "-^print -", "-^func ",
        "-:= ", "-echo ", "! map {", "!^map {", "! sort {", "!^sort {"),
};
