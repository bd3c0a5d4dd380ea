#!/bin/bash
set -e
config=/etc/myapp.conf

write_config() {
    echo "debug=$1" > "$config"
}

write_config true
cat "$config"
