for i in {1..20000}; do echo "line $i ................................"; done
