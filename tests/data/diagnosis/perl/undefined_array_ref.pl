use strict;
use warnings;
my $list;
my @copy = @{$list};
print scalar(@copy), "\n";
