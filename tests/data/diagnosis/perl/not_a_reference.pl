use strict;
use warnings;
my $list = "text";
print @{$list}, "\n";
