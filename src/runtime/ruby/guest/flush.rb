# What a program printed is out when it is killed.
$stdout.sync = true
