# The folder bots/java of Bot Arena.
KIT ?= {{kit}}
BOT = exec:java -jar target/bot.jar

build: .kit
	mvn -q package -DskipTests

# It is installed where Maven finds it.
.kit:
	mvn -q -f "$(KIT)/pom.xml" install -DskipTests -pl kit -am
	touch .kit

test: build
	mvn -q test
