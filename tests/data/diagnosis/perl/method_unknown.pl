package Cart;
sub new { return bless {}, shift }

package main;
use strict;

my $cart = Cart->new;
print $cart->total;
