"""The sample `random` for Connect Four as lines of JSON: stdio:python3 random_bot.py"""

import json
import random
import sys

for line in sys.stdin:
    call = json.loads(line)
    if call["call"] == "start":
        print('{"ready": {"bot": "random"}}', flush=True)
    elif call["call"] == "get_point":
        top = call["top"]
        y = random.choice([y for y in range(len(top)) if top[y] > 0])
        print(json.dumps({"point": {"x": top[y] - 1, "y": y}}), flush=True)
