use strict;
my $x = 1;
if ($x > 2) { print 1 } else if ($x > 0) { print 2 }
