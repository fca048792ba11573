#!/bin/bash
# Fine-tuning over machines that ssh reaches and that share this folder:
#   configs/launch/ssh.sh "node0 node1" configs/star_prontoqa_qwen8b.yaml kept adapter
# For a run on one machine nothing is needed but: ssh node0 'cd DIR && nohup certistar run CONFIG > run.log 2>&1 &'
set -euo pipefail

HOSTS=($1) CONFIG=$2 DATA=$3 ADAPTER=$4
GPUS=${GPUS:-8} PORT=${PORT:-29500} DIR=${DIR:-$PWD}

stop() { kill $(jobs -p) 2>/dev/null || true; }
trap stop EXIT INT TERM
for HOST in "${HOSTS[@]}"; do
    # -tt: ending ssh ends what it started.
    ssh -tt -o BatchMode=yes "$HOST" "cd '$DIR' && OMP_NUM_THREADS=1 .venv/bin/certistar train '$CONFIG' \
        --data '$DATA' --out '$ADAPTER' --nproc $GPUS --nnodes ${#HOSTS[@]} --rendezvous '${HOSTS[0]}:$PORT'" &
done
for _ in "${HOSTS[@]}"; do
    wait -n # the first that fails ends the others
done
