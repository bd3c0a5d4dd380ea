echo "Hello from bash $BASH_VERSION"
echo "the processes I can see: $(ls -d /proc/[0-9]* | wc -l)"
echo "arguments: $*"
cat > /etc/passwd || echo "and the root is read-only"
