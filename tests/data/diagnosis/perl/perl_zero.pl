use strict;
use warnings;

sub average {
    my @n = @_;
    my $sum = 0;
    $sum += $_ for @n;
    return $sum / @n;
}

print average(1, 2, 3), "\n";
print average(), "\n";
