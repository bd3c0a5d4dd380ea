package User;
use strict;
use warnings;
sub new { return bless { name => 'ann' }, shift }
sub name { return $_[0]{name} }

package main;
my $u = User->new;
print $u->nmae, "\n";
