"""Values and distances are those of the referee, over tens of thousands of hands."""

import subprocess
import sys

referee, ours = sys.argv[1:]
if not referee:
    sys.exit(
        "this test compares with the referee: cargo build -p referee-games --example hands, "
        "and cmake -DHANDS=…/target/debug/examples/hands"
    )
expected = subprocess.run([referee], stdout=subprocess.PIPE, check=True, text=True).stdout
hands = "".join(line.split()[0] + "\n" for line in expected.splitlines())
found = subprocess.run([ours], input=hands, stdout=subprocess.PIPE, check=True, text=True).stdout
pairs = list(zip(expected.splitlines(), found.splitlines(), strict=True))
different = [pair for pair in pairs if pair[0] != pair[1]]
for one, other in different[:10]:
    print(f"the referee says {one}, the harness {other}")
values = {}
for line in expected.splitlines():
    value = int(line.split()[1])
    values[value] = values.get(value, 0) + 1
print(f"{len(pairs)} hands, values {dict(sorted(values.items()))}")
assert len(pairs) >= 20_000
assert set(values) >= {0, 1, 2, 4, 8, 16, 32, 64}, values
sys.exit(bool(different))
