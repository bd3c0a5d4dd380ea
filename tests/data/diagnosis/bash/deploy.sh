#!/bin/bash
set -euo pipefail

namespace=${1:-default}

deploy() {
    heroku container:push web -a "$namespace"
}

echo "deploying to $namespace"
deploy
