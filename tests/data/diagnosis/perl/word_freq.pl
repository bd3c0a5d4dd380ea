use strict;
use warnings;

my %count;
while (my $line = <DATA>) {
    $count{$_}++ for split ' ', $line;
}

foreach my $word (sort { $counts{$b} <=> $counts{$a} } keys %count) {
    print "$word $count{$word}\n";
}
__DATA__
a b a
