use strict;
use warnings;
my $user = [1, 2];
print $user->{name}, "\n";
