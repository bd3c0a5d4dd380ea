use strict;
use warnings;

sub max {
    my $best = shift;
    for my $n (@_) {
        if ($n > $best) {
            $best = $n;
        }
    return $best;
}

print max(3, 9, 2), "\n";
