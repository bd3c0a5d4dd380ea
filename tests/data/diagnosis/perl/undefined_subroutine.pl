use strict;
use warnings;
sub greet { return "hello $_[0]" }

print greeet("ann"), "\n";
