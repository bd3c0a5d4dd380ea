use strict;
use warnings;

my $total = 0;
for my $n (1 .. 5) {
    $totl += $n;
}
print "total: $total\n";
