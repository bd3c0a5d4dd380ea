use strict;
use warnings;
use JSON::PP;

sub load {
    my ($text) = @_;
    return decode_json($text);
}

print load('{"a": 1}')->{a}, "\n";
print load("{'a': 1}")->{a}, "\n";
