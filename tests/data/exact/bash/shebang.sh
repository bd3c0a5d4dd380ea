#!/bin/bash -e
echo still; false; echo goes on
