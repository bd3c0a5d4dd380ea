use strict;
use warnings;
for my $i (1 .. 3) {
    if ($i > 1) {
        print "$i\n";
}
print "done\n";

