#!/usr/bin/env bash
# Downloads the programs of a release, proves that its workflow has made them, and puts them on the path of
# the job's later steps.
set -euo pipefail

case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*)
    echo "::error::expected a runner of x86-64 or AArch64, got $(uname -m): name a folder with \`arena: FOLDER\`"
    exit 2
    ;;
esac
folder=$RUNNER_TEMP/bot-arena
mkdir -p "$folder"
gh release download "$RELEASE" --repo "$REPOSITORY" --dir "$folder" --clobber \
    --pattern "bot-arena-*-linux-$arch.tar.gz"
gh attestation verify "$folder"/bot-arena-*.tar.gz --repo "$REPOSITORY"
tar -xzf "$folder"/bot-arena-*.tar.gz -C "$folder" --strip-components=1
echo "$folder" >>"$GITHUB_PATH"
