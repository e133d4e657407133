#!/bin/bash
# A controller in the shell: no service, only a database file. Each line may as well be a cron job of its own.
set -eu
name=${1:-loop-example}
steps=${2:-5}
export WINDVANE_DB=${WINDVANE_DB:-loop.db}

windvane study create "$name" --box 0,1 --algorithm et-gp-ucb --seed 1 \
    --option 'kernel={"type": "RBF", "lengthscale": [0.2]}' --option noise_variance=0.01 >/dev/null

for ((step = 1; step <= steps; step++)); do
    read -r number x < <(windvane study ask "$name" --format values)
    if y=$(awk -v x="$x" 'BEGIN { print 1 - (x - 0.3) ^ 2 }'); then # here your plant would be measured
        windvane study tell "$name" "$number" "$y"
    else
        windvane study fail "$name" "$number" "no measurement"
    fi
done

windvane study best "$name"
