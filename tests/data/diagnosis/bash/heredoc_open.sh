#!/bin/bash
name=ada
show() {
    cat <<EOT
Hello $name
    EOT
}
show
