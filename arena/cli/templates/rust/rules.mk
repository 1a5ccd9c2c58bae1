BOT = exec:target/release/bot

build:
	cargo build --release

test:
	cargo test --release
