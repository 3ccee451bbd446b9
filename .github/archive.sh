#!/usr/bin/env bash
# Packs the program built for the target $1, with its manual pages, completions and licences, into the folder $2:
# retrylint-$1.tar.gz.
set -euo pipefail
target=$1
out=$(cd "${2:-.}" && pwd)
cd "$(dirname "$0")/.."
name="retrylint-$target"
program=retrylint
[[ $target == *windows* ]] && program=retrylint.exe
built="${CARGO_TARGET_DIR:-target}/$target/release/$program"

packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
mkdir -p "$packed/$name/man" "$packed/$name/completions"
cp "$built" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$packed/$name/"
# Pages and completions are the same for all targets: a machine that cannot run the one asks one that it can run.
if ! "$built" -V >/dev/null 2>&1; then
    cargo build --release --locked
    built="${CARGO_TARGET_DIR:-target}/release/$program"
fi
"$built" man --out "$packed/$name/man"
for shell in bash zsh fish powershell elvish; do
    "$built" completions "$shell" > "$packed/$name/completions/retrylint.$shell"
done
tar -czf "$out/$name.tar.gz" -C "$packed" "$name"
