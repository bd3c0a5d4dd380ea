use strict;
use warnings;
use lib '.';
use Counter;
print Counter::count(1, 2), "\n";
