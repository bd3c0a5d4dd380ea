trap 'echo bye $?' EXIT; trap 'echo err $LINENO' ERR; false; (exit 3); exit 9
