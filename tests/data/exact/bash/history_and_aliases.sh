alias ll='ls -l'; ll; shopt expand_aliases; history; echo !!; set -H; fc -l
