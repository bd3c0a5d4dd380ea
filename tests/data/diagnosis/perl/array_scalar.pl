use strict;
my $list = (1, 2, 3);
for my $x (@$list) { print $x; }
