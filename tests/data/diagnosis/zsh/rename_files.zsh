#!/bin/zsh
setopt err_exit

rename() {
    for file in *.jpeg; do
        mv $file ${file:r}.jpg
    done
}

rename
print done
