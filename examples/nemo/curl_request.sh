#!/bin/bash
# Sends one program to /execute and prints the answer: a plot if plotly is installed, else its reason.
#
# Usage: curl_request.sh [URL]      http://127.0.0.1:6000/execute by default
set -euo pipefail

url=${1:-http://${SANDBOX_HOST:-127.0.0.1}:${SANDBOX_PORT:-6000}/execute}
read -r -d '' body <<'JSON' || true
{"generated_code": "try:\n    import plotly.graph_objects as go\n    go.Figure(go.Scatter(x=[1, 2, 3], y=[4, 1, 2])).write_html('plot.html')\n    print('plot.html is written')\nexcept ImportError as e:\n    print('no plot:', e)\n", "timeout": 30, "language": "python"}
JSON
curl --silent --show-error --fail-with-body --request POST --header 'Content-Type: application/json' \
    --data-binary "$body" "$url"
