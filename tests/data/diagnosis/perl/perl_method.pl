package Account;
use strict;
use warnings;

sub new {
    my ($class, %args) = @_;
    return bless { balance => $args{balance} // 0 }, $class;
}

sub deposit {
    my ($self, $amount) = @_;
    $self->{balance} += $amount;
    return $self;
}

package main;

my $acc = Account->new(balance => 5);
$acc->deposite(10);
print $acc->{balance}, "\n";
