use strict;
use warnings;

my @scores = (70, 95, 82);

sub report {
    my @s = @_;
    printf "best %d of %d\n", max(@s), scalar @s;
}

report(@scores);
