#!/usr/bin/env bash
# The main job with curl: preview the plan and its price, confirm the run, follow it, read the candidates.
#
#   python -m stack up --detach --json stack.json
#   bash examples/requests.sh stack.json
#
# Needs curl and python3. Nothing is spent before the confirmed call.
set -euo pipefail

facts=${1:?usage: examples/requests.sh FILE, the file that \`python -m stack up --json FILE\` wrote}
here=$(cd "$(dirname "$0")" && pwd)

field() {
  python3 -c 'import functools, json, sys
print(functools.reduce(lambda value, key: value[key], sys.argv[1].split("."), json.load(sys.stdin)))' "$1"
}

api=$(field api_url < "$facts")
key=$(field api_key < "$facts") # the key of a verified workspace that the first start created
auth="Authorization: Bearer $key"

echo "# 1. Whose key is this, and how many credits are left?"
curl -sS --fail-with-body "$api/v1/workspace" -H "$auth"
echo

echo "# 2. Preview: the plan, its tiers and the estimate. It is free and stores nothing."
body=$(python3 -c 'import json, sys; print(json.dumps({"job_description": sys.stdin.read(), "target": 30}))' \
  < "$here/senior-data-engineer-ghent.md")
curl -sS --fail-with-body "$api/v1/runs?dry_run=true" -H "$auth" -H "Content-Type: application/json" -d "$body"
echo

echo "# 3. Confirm. A repeated call with the same Idempotency-Key returns the same run."
run=$(curl -sS --fail-with-body "$api/v1/runs" -H "$auth" -H "Content-Type: application/json" \
  -H "Idempotency-Key: ghent-$(date +%s)" -d "$body" | field run.id)
echo "$run"

echo "# 4. Follow the run until it ends."
status=queued
while [[ $status != completed && $status != completed_no_audience && $status != failed && $status != aborted ]]; do
  sleep 1
  status=$(curl -sS --fail-with-body "$api/v1/runs/$run" -H "$auth" | field status)
  echo "$status"
done

echo "# 5. The candidates, one flat row each; as a spreadsheet with -H 'Accept: text/csv'."
curl -sS --fail-with-body "$api/v1/runs/$run/candidates?view=compact&limit=5" -H "$auth"
echo
curl -sS --fail-with-body "$api/v1/runs/$run/candidates" -H "$auth" -H "Accept: text/csv" | head -n 3

echo "# 6. Where fewer people were found than wanted: the demands that keep most people out, each with its PATCH body."
curl -sS --fail-with-body "$api/v1/runs/$run" -H "$auth" | field suggestions
echo "# Several towns, and no search beyond them: juniors within 20 km of Ghent or 30 km of Antwerp. Free."
curl -sS --fail-with-body "$api/v1/search-plans" -H "$auth" -H "Content-Type: application/json" -d '{"intent": {
  "titles": ["Data Engineer"], "seniority": ["entry"],
  "location": {"areas": [{"location_id": "loc_2797656", "radius_km": 20, "only": true},
                         {"location_id": "loc_2803138", "radius_km": 30, "only": true}]}}}' | field summary

echo "# 7. What it cost, line by line."
curl -sS --fail-with-body "$api/v1/billing/ledger?limit=5" -H "$auth"
echo
