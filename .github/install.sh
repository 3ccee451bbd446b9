#!/usr/bin/env bash
# Puts the program into the folder $1: from a release, or built from the source beside this script.
# VERSION or REF (a tag) name the release, REPOSITORY where it is.
set -euo pipefail
folder=$1
mkdir -p "$folder"

version=${VERSION:-}
if [ -z "$version" ] && [[ ${REF:-} =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
    version=${REF#v}
fi
if [ -z "$version" ]; then
    source=$(cd "$(dirname "$0")/.." && pwd)
    cargo install --locked --quiet --path "$source" --root "$folder"
    mv "$folder"/bin/retrylint* "$folder/"
    exit
fi

case "$(uname -s)/$(uname -m)" in
    Linux/x86_64) target=x86_64-unknown-linux-musl ;;
    Linux/aarch64) target=aarch64-unknown-linux-musl ;;
    Darwin/x86_64) target=x86_64-apple-darwin ;;
    Darwin/arm64) target=aarch64-apple-darwin ;;
    MINGW*/x86_64 | MSYS*/x86_64) target=x86_64-pc-windows-msvc ;;
    *)
        echo "there is no release for $(uname -s) on $(uname -m)" >&2
        exit 2
        ;;
esac
archive="retrylint-$target.tar.gz"
from="https://github.com/$REPOSITORY/releases/download/v${version#v}"
cd "$folder"
curl --fail --silent --show-error --location --retry 3 --remote-name "$from/$archive" --remote-name "$from/SHA256SUMS"
# Windows' and macOS' tools differ in name only.
sum=sha256sum
command -v sha256sum >/dev/null || sum="shasum -a 256"
grep -F "  $archive" SHA256SUMS | $sum -c -
tar -xzf "$archive" --strip-components 1
