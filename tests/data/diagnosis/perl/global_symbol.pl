use strict;
use warnings;
my $total = 3;
print $totl, "\n";
