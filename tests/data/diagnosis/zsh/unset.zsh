setopt nounset
total=3

print $totl
