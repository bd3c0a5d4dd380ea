set -e
echo start
sudo mkdir /data
