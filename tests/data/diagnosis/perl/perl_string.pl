use strict;
use warnings;

my $name = "Ada;
print "Hello $name\n";

sub greet {
    return "hi";
}
