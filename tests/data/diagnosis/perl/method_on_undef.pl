use strict;
use warnings;
my %users = (ann => 1);
my $user = $users{bob};
print $user->name, "\n";
