#!/bin/zsh
set -u
target=build
clean() {
    print "cleaning $targt"
}
clean
