# The folder bots/typescript of Bot Arena.
KIT ?= {{kit}}
BOT = exec:node dist/main.js

build: node_modules
	npx tsc

node_modules: package.json bot-arena.tgz
	npm install --no-audit --no-fund
	touch node_modules

# A link to the kit would lead out of this folder, where a sandbox shows nothing.
bot-arena.tgz:
	cd "$(KIT)" && npm ci --no-audit --no-fund && npm pack --pack-destination "$(CURDIR)"
	mv bot-arena-*.tgz bot-arena.tgz

test: build
	node --test dist/*.test.js
