use strict;
use warnings;

my $data = { users => { name => 'ada' } };

sub first_user {
    my ($d) = @_;
    return $d->{users}[0];
}

print first_user($data), "\n";
