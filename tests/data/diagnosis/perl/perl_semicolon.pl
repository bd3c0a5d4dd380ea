use strict;
use warnings;

my @list = (3, 1, 2);
my @sorted = sort { $a <=> $b } @list
print "smallest: $sorted[0]\n";
print "largest: $sorted[-1]\n";
