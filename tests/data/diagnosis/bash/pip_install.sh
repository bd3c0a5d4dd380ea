#!/bin/bash
set -e
echo "installing"
apt-get install -y jq
jq . data.json
