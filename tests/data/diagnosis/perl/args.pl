use strict; use warnings;
sub add($a, $b) { return $a + $b; }
print add(1, 2);
