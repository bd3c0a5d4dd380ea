use strict;
use warnings;
my $n = 2;
if ($n == 1) { print "one\n"; }
elseif ($n == 2) { print "two\n"; }
