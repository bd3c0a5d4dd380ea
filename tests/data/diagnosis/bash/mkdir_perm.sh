#!/bin/bash
set -e
target=/opt/myapp

install_app() {
    mkdir -p "$target/bin"
    cp app.sh "$target/bin/"
}

install_app
