use strict;
use warnings;
use LWP::UserAgent::Fancy;

my $ua = LWP::UserAgent::Fancy->new;
print $ua->get('http://example.org')->status_line, "\n";
