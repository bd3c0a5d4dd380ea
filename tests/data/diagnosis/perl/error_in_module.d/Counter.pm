package Counter;
use strict;
use warnings;
sub count {
    my $count = @_;
    return $coutn;
}
1;
