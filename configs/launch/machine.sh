#!/bin/bash
# What each of several machines does, whichever of the templates beside this file started it, in the project's folder:
#   HEAD=node0 MACHINE=0 MACHINES=4 configs/launch/machine.sh run CONFIG --out DIR                a run, through Ray
#   HEAD=node0 MACHINE=0 MACHINES=4 configs/launch/machine.sh train CONFIG --data DIR --out DIR   one fine-tuning alone
# HEAD is the first machine's name or address, the same on all; MACHINE is 0 there and another number on each other one,
# and need not be said under Slurm, SkyPilot or an indexed Job of Kubernetes.
# A run works on the first machine: all of them write and judge attempts for it, and its fine-tunings take the first
# one's GPUs. The others end when it ends; with STAY=1 they wait for it to come back, for who restarts it.
set -euo pipefail

HEAD=${HEAD:?the name of the first machine} MACHINES=${MACHINES:-1}
MACHINE=${MACHINE:-${SLURM_PROCID:-${SKYPILOT_NODE_RANK:-${JOB_COMPLETION_INDEX:-0}}}}
RAY_PORT=${RAY_PORT:-6379} TRAIN_PORT=${TRAIN_PORT:-29500} PATIENCE_S=${PATIENCE_S:-600}
export OMP_NUM_THREADS=1 RAY_AUTH_MODE=${RAY_AUTH_MODE:-token}
if [ -d .venv/bin ]; then export PATH="$PWD/.venv/bin:$PATH"; fi

answers() { (: < "/dev/tcp/$HEAD/$RAY_PORT") 2> /dev/null; }

await_head() {
    local SINCE=$SECONDS
    until answers; do
        if ((SECONDS - SINCE > PATIENCE_S)); then
            echo "machine $MACHINE: nothing answers at $HEAD:$RAY_PORT after $PATIENCE_S s" >&2
            exit 1
        fi
        sleep 1
    done
}

# Anyone who can reach a Ray cluster can run code on it, so all machines share a token: RAY_AUTH_TOKEN, or a file in
# their shared folder, which the first one makes.
share_token() {
    if [ -n "${RAY_AUTH_TOKEN:-}" ]; then return; fi
    unset RAY_AUTH_TOKEN
    export RAY_AUTH_TOKEN_PATH=${RAY_AUTH_TOKEN_PATH:-$PWD/.ray-token}
    if [ "$MACHINE" -eq 0 ] && [ ! -s "$RAY_AUTH_TOKEN_PATH" ]; then
        (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$RAY_AUTH_TOKEN_PATH")
    elif [ ! -s "$RAY_AUTH_TOKEN_PATH" ]; then
        echo "machine $MACHINE: no $RAY_AUTH_TOKEN_PATH; share the folder, or set the same RAY_AUTH_TOKEN on all" >&2
        exit 1
    fi
}

# --block, as a child of this script: what ends it ends this cluster's processes alone, which `ray stop` does not.
export PYTHONSAFEPATH=1  # a `training/` in the working folder must not stand in for ours
start_ray() { exec ray start "$@" --object-store-memory=$((2 ** 30)) --disable-usage-stats --block; }

lead() {
    share_token
    start_ray --head --port="$RAY_PORT" --include-dashboard=false &
    local RAY=$!
    trap 'kill '"$RAY"' 2> /dev/null; wait '"$RAY"' 2> /dev/null || true' EXIT
    await_head
    certistar run "$@" --set workers.backend=ray --set "workers.address=$HEAD:$RAY_PORT" &
    local RUN=$!
    trap 'kill '"$RUN"' 2> /dev/null || true' HUP INT TERM
    while kill -0 "$RUN" 2> /dev/null; do wait "$RUN" || true; done  # a signal ends a wait, not the run
    wait "$RUN"
}

follow() {
    while await_head; do
        share_token
        (start_ray --address="$HEAD:$RAY_PORT") &
        local RAY=$!
        trap 'kill '"$RAY"' 2> /dev/null; wait '"$RAY"' 2> /dev/null; exit 1' HUP INT TERM
        while answers && kill -0 "$RAY" 2> /dev/null; do sleep 2; done
        kill "$RAY" 2> /dev/null || true
        wait "$RAY" 2> /dev/null || true
        if [ -z "${STAY:-}" ] && ! answers; then return; fi
    done
}

WORK=${1:?run or train}
shift
if [ "$WORK" = train ]; then
    exec certistar train "$@" --nnodes "$MACHINES" --rendezvous "$HEAD:$TRAIN_PORT"
elif [ "$MACHINES" -eq 1 ]; then
    exec certistar run "$@"
elif [ "$MACHINE" -eq 0 ]; then
    lead "$@"
else
    follow
fi
