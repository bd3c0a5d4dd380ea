use strict;
my $cart = Shop::Cart->new();
