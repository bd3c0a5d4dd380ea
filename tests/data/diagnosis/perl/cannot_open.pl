use strict;
use warnings;
open(my $in, '<', 'data.txt') or die "cannot open data.txt: $!";
print <$in>;
