#!/bin/sh
# Create a study, ask, tell and read the believed best, with curl alone. Needs a running `windvane serve`.
set -eu
url=${WINDVANE_URL:-http://127.0.0.1:8000}
name="curl-example-$$"

# call METHOD PATH [BODY]: prints the answer; fails where the service says no, and shows why
call() {
    answer=$(request "$@") || { echo "$answer" >&2; return 1; }
    echo "$answer"
}

request() {
    curl --silent --show-error --fail-with-body --request "$1" "$url/v1$2" \
        --header "Content-Type: application/json" \
        --header "Idempotency-Key: ${key:-none}" \
        ${WINDVANE_TOKEN:+--header "Authorization: Bearer $WINDVANE_TOKEN"} \
        ${3:+--data "$3"}
}

call POST /studies "{\"name\": \"$name\", \"space\": {\"box\": [[0, 1]]}, \"seed\": 1,
    \"algorithm\": \"et-gp-ucb\",
    \"options\": {\"kernel\": {\"type\": \"RBF\", \"lengthscale\": [0.2]}, \"noise_variance\": 0.01}}" >/dev/null
trap 'call DELETE "/studies/$name"' EXIT

for step in 1 2 3 4 5; do
    key="ask-$step" # the same key again would give the same trial: a call that was cut can be repeated
    trial=$(call POST "/studies/$name/ask" '{}')
    number=$(echo "$trial" | sed 's/.*"number":\([0-9]*\).*/\1/')
    x=$(echo "$trial" | sed 's/.*"x":\[\([^]]*\)\].*/\1/')
    y=$(awk -v x="$x" 'BEGIN { print 1 - (x - 0.3) ^ 2 }') # here your plant would be measured
    key="tell-$step"
    call POST "/studies/$name/tell" "{\"trial\": $number, \"y\": $y}" >/dev/null
    echo "trial $number: x = $x, y = $y"
done

echo "believed best: $(call GET "/studies/$name/best")"
