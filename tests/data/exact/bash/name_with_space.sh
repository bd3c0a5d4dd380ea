echo "$0"; nosuch
