set -u
file_name=report.txt

echo "$flie_name"
