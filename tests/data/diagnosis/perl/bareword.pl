use strict;
use warnings;
my $x = hello;
print $x;
