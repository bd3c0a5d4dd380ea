use strict;
use warnings;
sub load {
    my ($name) = @_;
    die "no such setting: $name" if $name ne 'size';
}
load('colour');
