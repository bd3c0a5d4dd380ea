use strict;
use warnings;

package Node;
sub new { my ($class, $v) = @_; return bless { v => $v, next => undef }, $class }
sub next_node { $_[0]{next} }
sub value { $_[0]{v} }

package main;

my $list = Node->new(1);
print $list->value, "\n";
print $list->next_node->value, "\n";
