#!/bin/zsh
setopt err_exit
prepare() {
    cd reports
    ls
}
prepare
