BOT = stdio:python3 bot.py

build:

test:
	python3 -m unittest
