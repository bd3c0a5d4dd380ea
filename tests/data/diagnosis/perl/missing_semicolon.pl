use strict;
use warnings;
my $n = 3
print "$n\n";
