BOT = exec:build/bot

build:
	cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
	cmake --build build --parallel $$(nproc)

test: build
	ctest --test-dir build --output-on-failure
