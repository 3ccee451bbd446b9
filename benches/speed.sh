#!/usr/bin/env bash
# How long retrylint takes, and how that compares with
#   - ripgrep (or grep) over the same tree for the same words: reading every file is the least that can be done;
#   - syn parsing every Rust file, on all cores: what a linter costs that does not choose among them.
# Usage: benches/speed.sh [FOLDER]...   (default: the fixtures)
# The best of RUNS runs (default 3) counts. `hyperfine` measures, if it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${RUNS:-3}
if [ $# -eq 0 ]; then set -- fixtures; fi
for folder in "$@"; do
    [ -d "$folder" ] || { echo "speed.sh: no folder $folder" >&2; exit 2; }
done

cargo build --quiet --release --bin retrylint
parse_all=$(cargo bench --quiet --no-run --bench parse_all --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"parse_all".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
retrylint=${CARGO_TARGET_DIR:-target}/release/retrylint

# The words by which the settings of the systems and the calls in code are told.
words='retry|retries|attempt|backon|reqwest|\.send\(|\.await|sleep|apiVersion|_format_version|virtual_hosts|services|resilience4j|DELETE|TRUNCATE'

# Seconds of the fastest run of a command; its exit status does not matter (retrylint finds something: 1).
seconds() {
    if command -v hyperfine >/dev/null; then
        hyperfine --ignore-failure --warmup 1 --runs "$runs" --export-csv /dev/stdout --style none -- "$(printf '%q ' "$@")" 2>/dev/null |
            awk -F, 'NR == 2 { print $7 }'
        return
    fi
    local best= elapsed
    for _ in $(seq "$runs"); do
        local TIMEFORMAT=%R
        elapsed=$({ time "$@" >/dev/null 2>&1 || true; } 2>&1)
        if [ -z "$best" ] || awk "BEGIN { exit !($elapsed < $best) }"; then best=$elapsed; fi
    done
    echo "$best"
}

row() { # name, seconds, seconds of retrylint
    awk -v name="$1" -v s="$2" -v own="$3" 'BEGIN { printf "%-34s %8.3f s   retrylint takes %.2f times as long\n", name, s, (s > 0 ? own / s : 0) }'
}

for folder in "$@"; do
    echo "$folder: $("$parse_all" "$folder") of Rust"
    own=$(seconds "$retrylint" check --fail-on never "$folder")
    all=$(seconds "$retrylint" check --fail-on never --parse-all "$folder")
    printf '%-34s %8.3f s\n' "retrylint" "$own"
    row "retrylint --parse-all" "$all" "$own"
    row "syn, every Rust file" "$(seconds "$parse_all" "$folder")" "$own"
    if command -v rg >/dev/null; then
        row "ripgrep, the same words" "$(seconds rg --hidden --count-matches -e "$words" "$folder")" "$own"
    else
        row "grep, the same words" "$(seconds grep -rEc "$words" "$folder")" "$own"
    fi
done
