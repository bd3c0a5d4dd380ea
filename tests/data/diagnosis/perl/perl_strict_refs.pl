use strict;
use warnings;

my @rows = ('ada', 'bob');

sub name_of {
    my ($row) = @_;
    return $row->{name};
}

print name_of($_), "\n" for @rows;
