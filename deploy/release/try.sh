#!/bin/sh
# Installs the archive and the wheel of FOLDER as somebody does who has downloaded them, and plays. It
# needs Python 3.10 or later and nothing of Rust; and no network where FOLDER/wheels has pip and what the
# wheel needs.
set -eu

folder=${1:?expected the folder of an archive and a wheel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

said() { echo "== $*"; }

# Prints how many seconds a command takes.
timed() {
    begin=$(date +%s.%N)
    "$@"
    awk -v begin="$begin" -v end="$(date +%s.%N)" 'BEGIN { printf "== %.1f s\n", end - begin }'
}

for tool in cargo rustc; do
    if command -v "$tool"; then echo "there is Rust here" >&2; exit 1; fi
done
(cd "$folder" && sha256sum --check --quiet SHA256SUMS)

said "the archive"
tar -xzf "$folder"/bot-arena-*.tar.gz --strip-components=1
for file in README.md LICENSE licences/crates.txt sbom.cdx.json completions/_arena \
    completions/arena.fish man/man1/arena.1 man/man1/arena-tournament-run.1; do
    test -s "$file" || { echo "no $file" >&2; exit 1; }
done
bash -c '. completions/arena.bash && complete -p arena'
./referee --version
# Another program than arena.
./arena serve --help >serve.txt
./arena match connect-four --bot 'a=exec:./bot random' --bot house:random --deals 2 --fail-on-foul

said "the wheel"
if [ -d "$folder/wheels" ]; then
    python3 -m venv --without-pip venv
    # It runs from its wheel.
    pip=$(echo "$folder"/wheels/pip-*.whl)/pip
    set -- venv/bin/python "$pip" install --no-index --find-links "$folder/wheels"
else
    python3 -m venv venv
    set -- venv/bin/pip install
fi
timed "$@" --quiet "$folder"/bot_arena-*.whl
venv/bin/arena --version 2>told.txt
if [ -s told.txt ]; then cat told.txt >&2; exit 1; fi
timed venv/bin/arena demo
venv/bin/arena serve --help >serve.txt
cat >bot.py <<'END'
from bot_arena import Bot, ConnectFourBot, GetPoint, Point


class Leftmost(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        return ask.points()[0]


if __name__ == "__main__":
    Bot("leftmost", "1.0").connect_four(Leftmost).main()
END
venv/bin/arena match connect-four --bot "me=exec:venv/bin/python bot.py" --bot house:random --deals 2 \
    --fail-on-foul
for page in licenses/crates.txt licenses/LICENSE sboms/bot-arena.cdx.json; do
    test -s venv/lib/python3*/site-packages/bot_arena-*.dist-info/$page || { echo "no $page" >&2; exit 1; }
done

said "beside an arena of somebody else"
mkdir other
printf '#!/bin/sh\necho another\n' >other/arena
chmod +x other/arena
PATH="$work/other:$PATH" venv/bin/arena --version 2>told.txt
grep -F "another one, $work/other/arena" told.txt

said "all is well"
