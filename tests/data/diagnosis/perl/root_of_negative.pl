my $n = -4;
print sqrt($n);
