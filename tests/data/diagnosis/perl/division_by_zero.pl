use strict;
use warnings;
sub average {
    my @values = @_;
    return eval { 1 } && 10 / scalar(@values);
}
print average(), "\n";
