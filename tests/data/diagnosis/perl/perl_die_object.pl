use strict;
use warnings;

sub validate {
    my ($age) = @_;
    die "invalid age: $age\n" if $age !~ /^\d+$/;
    return $age;
}

my $ok = eval { validate('abc') };
die "validation failed: $@" unless defined $ok;
print "ok\n";
