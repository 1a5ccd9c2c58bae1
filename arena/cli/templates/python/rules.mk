# A folder bots/python of Bot Arena, or its wheel.
KIT ?= {{kit}}
BOT = exec:venv/bin/python bot.py

build: venv

venv: requirements.txt
	python3 -m venv venv
	rm -f bot_arena-*.whl
	venv/bin/pip wheel -q --no-deps -w . "$(KIT)"
	venv/bin/pip install -q -r requirements.txt ./bot_arena-*.whl
	touch venv

test: build
	venv/bin/python -m unittest
