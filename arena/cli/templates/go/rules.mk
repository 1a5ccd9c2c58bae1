BOT = exec:./bot

build: go.sum
	CGO_ENABLED=0 go build -o bot .

go.sum: go.mod
	go mod tidy
	touch go.sum

test: build
	go test ./...
