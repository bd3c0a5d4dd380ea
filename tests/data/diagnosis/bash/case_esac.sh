#!/bin/bash

action() {
    case "$1" in
        start) echo starting ;;
        stop) echo stopping ;;
}

action start
