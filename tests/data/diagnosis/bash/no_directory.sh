set -e
cd /srv/data
ls
