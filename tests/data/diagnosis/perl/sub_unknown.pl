use strict;
my @prices = (1, 2);
print total(@prices);
