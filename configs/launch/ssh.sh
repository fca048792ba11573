#!/bin/bash
# Over machines that ssh reaches without a password, and that have the project in one folder that they share:
#   configs/launch/ssh.sh "node0 node1" run configs/star_prontoqa_qwen8b.yaml --out runs/qwen8b
#   configs/launch/ssh.sh "node0 node1" train configs/star_prontoqa_qwen8b.yaml --data kept --out adapter
# The first is the head (machine.sh says what the others do). The command that was cut off goes on when it is repeated.
# For one machine nothing is needed but: ssh node0 'cd DIR && nohup .venv/bin/certistar run CONFIG > run.log 2>&1 &'
set -euo pipefail

read -ra HOSTS <<< "${1:?"the machines, with blanks between"}"
shift
DIR=${DIR:-$PWD}
WORK=$(printf '%q ' "$@")

trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
trap 'exit 1' HUP INT TERM
for NUMBER in "${!HOSTS[@]}"; do
    # -tt: ending ssh ends what it started.
    ssh -tt -o BatchMode=yes "${HOSTS[NUMBER]}" "cd $(printf '%q' "$DIR") && HEAD=${HOSTS[0]} MACHINE=$NUMBER \
        MACHINES=${#HOSTS[@]} configs/launch/machine.sh $WORK" < /dev/null &
done
for _ in "${HOSTS[@]}"; do
    wait -n # the first that fails ends the others
done
