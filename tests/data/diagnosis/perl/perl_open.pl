#!/usr/bin/perl
use strict;
use warnings;

sub read_users {
    my ($path) = @_;
    open(my $fh, '<', $path) or die "Cannot open $path: $!";
    my @users = <$fh>;
    close $fh;
    return @users;
}

print scalar(read_users('users.txt')), "\n";
